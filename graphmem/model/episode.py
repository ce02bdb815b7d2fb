"""Episodes, messages and turns."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from graphmem.model.memory import Outcome
from graphmem.model.terms import Instant, Name, Record, Tags, Text


class Message(Record):
    """One message of a conversation, verbatim.

    `id` is the sender's own id of the message. With `id` or `at`, a message that is added again is
    recognised at any position. `session` names the session it belongs to; only `ingest` reads it.
    """

    role: Name
    content: Annotated[Text, Field(max_length=1_000_000)]
    name: Name | None = None
    at: Instant | None = None
    id: Name | None = None
    session: Name | None = None


class NewEpisode(Record):
    """An episode to store, for example a document."""

    episode_id: Name | None = None
    """None: that of the session, else a new one."""
    session_id: Name | None = None
    summary: Text | None = None
    content: Text | None = None
    entities: Tags = ()
    importance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.5
    at: Instant | None = None
    """None: now."""


class Turn(Record):
    """One stored message: verbatim and with its position."""

    id: str
    episode_id: str
    position: int
    role: str
    name: str | None
    text: str
    occurred_at: Instant
    recorded_at: Instant


class TurnPage(Record):
    """One page of an episode's turns, in their order."""

    turns: tuple[Turn, ...]
    next_cursor: str | None
    """Cursor of the next page; None on the last one."""


class Episode(Record):
    """One stretch of experience: a session, a conversation, a document."""

    id: str
    scope: str
    session_id: str | None
    summary: str | None
    content: str | None
    """Text of the episode; None if it has none or is compressed."""
    gist: str | None = None
    """Summary made by compression for an episode without `summary`."""
    compressed: bool = False
    """Whether its full text is in an archive; `episodes.restore` puts it back."""
    entities: tuple[str, ...]
    importance: float
    occurred_at: Instant
    recorded_at: Instant
    turns: int


class EpisodePage(Record):
    """A page of episodes, newest first."""

    episodes: tuple[Episode, ...]
    next_cursor: str | None
    """Cursor of the next page; None on the last one."""
    provisional: bool = False
    """See `Memory`."""


class TurnsReceipt(Record):
    """Receipt of `add_messages`."""

    episode_id: str
    turn_ids: tuple[str, ...]
    """One id per message, in order, whether added now or found."""
    added: int
    """Number of new turns."""


class IngestReport(Record):
    """Result of `ingest`."""

    messages: int = 0
    turns_added: int = 0
    outcomes: dict[Outcome, int] = Field(default_factory=dict)
    """Number of new commits by outcome."""
    repeated: int = 0
    """Number of texts that an earlier run had committed."""
