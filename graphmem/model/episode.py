"""Episodes, messages and turns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from graphmem.model import zones
from graphmem.model.terms import (
    Instant,
    Name,
    Record,
    RepairedName,
    RepairedText,
    Tags,
    Text,
)

MappedRole: TypeAlias = Literal["user", "assistant", "tool", "system"]
"""Meaning of a caller's own role."""
TimeZone: TypeAlias = Annotated[Text, AfterValidator(zones.checked)]
"""Name of a time zone: an IANA name, or an offset such as `+05:45`."""


class Message(Record):
    """One message of a conversation, verbatim.

    `id` is the sender's own id of the message. With `id` or `at`, a message that is added again is
    recognised by it. `time_zone` is where its words for days are read ("yesterday"): by default
    that of `at`, unless `at` is in UTC. `session` names the session it belongs to; only `ingest`
    reads it.
    """

    role: RepairedName
    content: Annotated[RepairedText, Field(max_length=1_000_000)]
    name: RepairedName | None = None
    at: Instant | None = None
    time_zone: TimeZone | None = None
    id: RepairedName | None = None
    session: RepairedName | None = None

    @model_validator(mode="before")
    @classmethod
    def _keep_zone(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and given.get("time_zone") is None:
            return {**given, "time_zone": zones.stated(given.get("at"))}
        return given


class NewEpisode(Record):
    """An episode to store, for example a document."""

    episode_id: Name | None = None
    """None: that of the session, else a new one."""
    session_id: Name | None = None
    summary: Text | None = None
    content: Text | None = None
    entities: Tags = ()
    importance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    """None: that of its turns, or 0.5 without turns."""
    at: Instant | None = None
    """None: now. Messages of a session replace it by theirs."""


class Turn(Record):
    """One stored message: verbatim and with its position."""

    id: str
    episode_id: str
    position: int
    role: str
    name: str | None
    text: str
    occurred_at: Instant
    time_zone: str = "UTC"
    """Zone in which its words for days are read: that of the message, else GRAPHMEM_TIME_ZONE of
    the program that stored it, else that program's machine's."""
    recorded_at: Instant

    @property
    def local_at(self) -> datetime:
        """`occurred_at` by the clock of its zone."""
        return zones.local(self.occurred_at, self.time_zone)


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
    """Whether its full text is in an archive, or its turns are not searched any more;
    `episodes.restore` undoes both."""
    entities: tuple[str, ...]
    importance: float
    summarised_by: str | None = None
    """Method that summarised its turns: the rules or a language model, with its version; else None.
    A summary, entities or an importance that a caller gave stay as given."""
    occurred_at: Instant
    """Time of its first message; of one without messages the given time."""
    ended_at: Instant | None = None
    """Time of its last message; None without messages."""
    recorded_at: Instant
    turns: int


class EpisodePage(Record):
    """A page of episodes, newest first."""

    episodes: tuple[Episode, ...]
    next_cursor: str | None
    """Cursor of the next page; None on the last one."""
    provisional: bool = False
    """See `Memory`."""


class SummarisedEpisode(Record):
    """A conversation and its summary; in a preview, the summary to store."""

    episode_id: str
    occurred_at: Instant
    turns: int
    """Number of turns that it covers."""
    summary: str
    entities: tuple[str, ...]
    importance: float
    method: str
    """The rules, or the name of the language model and the digest of the prompt."""
    problem: str | None = None
    """Why the reply of a model was dismissed, or is missing; the rules were used instead."""


class SummaryReport(Record):
    """Result of summarising conversations."""

    applied: bool
    """False for a preview, and if there was nothing to do."""
    episodes: tuple[SummarisedEpisode, ...] = ()
    calls: int = 0
    """Number of requests to the language model."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """Cost in USD; None if the price is unknown."""


class TurnsReceipt(Record):
    """Receipt of `add_messages`."""

    episode_id: str
    turn_ids: tuple[str, ...]
    """One id per turn, in order, whether added now or found; a message with words of several roles
    is several turns."""
    added: int
    """Number of new turns."""
    skipped: int = 0
    """Number of messages without words or with too many, of which no turn is kept."""
    notes: tuple[str, ...] = ()
    """Messages that were repaired or are too long, parts of messages that were left out, and
    assumptions about them, such as an unknown role."""


class IngestReport(Record):
    """Result of `ingest`."""

    messages: int = 0
    turns_added: int = 0
    skipped: int = 0
    """See `TurnsReceipt`."""
    notes: tuple[str, ...] = ()
    """See `TurnsReceipt`."""
