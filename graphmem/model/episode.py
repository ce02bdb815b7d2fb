"""Records of episodes, messages and turns."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from graphmem.model.belief import Unit
from graphmem.model.memory import Outcome
from graphmem.model.terms import Instant, Name, Record, Text


class Message(Record):
    """One message of a conversation, as said.

    `id` is the sender's own id of the message; with it or with `at`, adding the message again
    is recognised wherever it stands. `session` names the stretch of conversation it belongs to
    and is read by `ingest` only.
    """

    role: Name
    content: Annotated[Text, Field(max_length=1_000_000)]
    name: Name | None = None
    at: Instant | None = None
    id: Name | None = None
    session: Name | None = None


class Turn(Record):
    """One message as it is kept: verbatim and in its place."""

    id: str
    episode_id: str
    position: int
    role: str
    name: str | None
    text: str
    occurred_at: Instant
    recorded_at: Instant


class Episode(Record):
    """One stretch of experience: a session, a conversation, a document."""

    id: str
    scope: str
    session_id: str | None
    summary: str | None
    content: str | None
    """None: it has none, or it is compressed."""
    gist: str | None = None
    """What its text came to, made when it was compressed and has no summary."""
    compressed: bool = False
    """Its full text lies in an archive; `restore_episode` puts it back."""
    entities: tuple[str, ...]
    importance: float
    occurred_at: Instant
    recorded_at: Instant
    turns: int


class TurnsReceipt(Record):
    """What `add_messages` did."""

    episode_id: str
    turn_ids: tuple[str, ...]
    """One id per message given, in its order, whether added now or found."""
    added: int
    """How many of them are new."""


class IngestReport(Record):
    """What `ingest` did."""

    messages: int = 0
    turns_added: int = 0
    outcomes: dict[Outcome, int] = Field(default_factory=dict)
    """New commits by outcome."""
    repeated: int = 0
    """Texts that an earlier run had committed."""


Days = Annotated[float, Field(ge=0, le=36_500, allow_inf_nan=False)]


class UpkeepPolicy(Record):
    """Which episodes graduate and which are compressed."""

    importance: Unit = 0.7
    """From here on an episode may graduate; below it, it may be compressed."""
    accesses: Annotated[int, Field(ge=1, le=10**6)] = 3
    """An important episode that was looked at so often graduates at any age."""
    graduate_days: Days = 14.0
    """An important episode graduates when it is so old."""
    most: Annotated[int, Field(ge=1, le=1_000)] = 10
    """Episodes that graduate in one cycle."""
    compress_days: Days = 30.0
    """An episode that nobody looked at is compressed when it is so old."""


class GraduatedEpisode(Record):
    """An episode that has, or would have, a line in a digest."""

    episode_id: str
    occurred_at: Instant
    line: str
    """As it was made, without the line's end."""
    added: bool
    """False: a line with this id was there already and stays as it is."""


class GraduationReport(Record):
    """What one cycle of graduation did, or would do."""

    applied: bool
    """False for a dry run, and when nothing was to be done."""
    file: str
    """Name of the digest's file, without its folder."""
    episodes: tuple[GraduatedEpisode, ...] = ()
    """The most important first."""
    more: bool = False
    """Others are left for the next cycle."""


class CompressedEpisode(Record):
    """An episode whose full text was, or would be, put into an archive."""

    episode_id: str
    occurred_at: Instant
    characters: int
    """Of the full text."""
    kept: str
    """What stays to be read: its summary, else what was made of its text."""


class CompressionReport(Record):
    """What a run of compression did, or would do."""

    applied: bool
    """False for a dry run, and when nothing was to be done."""
    episodes: tuple[CompressedEpisode, ...] = ()
    """The oldest first."""


class RestoredEpisode(Record):
    """What `restore_episode` did."""

    episode_id: str
    changed: bool
    """False: it was not compressed."""
    event_id: str | None
    """Of the RESTORE; None when nothing changed."""
