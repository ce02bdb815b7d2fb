"""The frozen records that enter and leave graphmem, and its closed sets."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
)


def _utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies before the year 1 or after the year 9999 in UTC") from None


def _no_number(at: object) -> object:
    # Read as seconds or as milliseconds by its size, a number would be a guess.
    if isinstance(at, datetime) or (isinstance(at, str) and not at.lstrip("+-").isdecimal()):
        return at
    raise ValueError("is no instant: give a datetime, or a text in ISO 8601")


def _storable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"has a lone surrogate at position {error.start}") from None
    return text


Instant: TypeAlias = Annotated[AwareDatetime, BeforeValidator(_no_number), AfterValidator(_utc)]
"""A timezone-aware instant, kept in UTC to the microsecond."""
Text: TypeAlias = Annotated[str, Strict(), AfterValidator(_storable)]
"""A string that UTF-8 can hold."""
Name: TypeAlias = Annotated[Text, Field(min_length=1, max_length=200)]
"""A short label or an id given by a caller."""
Tags: TypeAlias = Annotated[tuple[Name, ...], Field(max_length=64)]

GLOBAL_SCOPE = "global"


class Record(BaseModel):
    """A value that cannot change."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Outcome(StrEnum):
    """What became of a text offered to `remember`."""

    INSERTED_NEW = "INSERTED_NEW"
    EXACT_DUPE = "EXACT_DUPE"
    NEAR_DUPE = "NEAR_DUPE"
    REJECTED_HYGIENE = "REJECTED_HYGIENE"


class EventType(StrEnum):
    """What an event says happened to a memory."""

    ADD = "ADD"
    IMPORT = "IMPORT"
    REINFORCE_EXACT = "REINFORCE_EXACT"
    REINFORCE_NEAR = "REINFORCE_NEAR"
    SUPERSEDE = "SUPERSEDE"
    DEPRECATE = "DEPRECATE"
    RESTORE = "RESTORE"


class Status(StrEnum):
    """Whether a memory is what should be recalled now."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    DEPRECATED = "deprecated"


class Wall(Record):
    """Whose memory a call is about, and which part of it; no query crosses it."""

    tenant: Name
    scope: Name = GLOBAL_SCOPE
    """Where writes go."""
    scopes: Annotated[tuple[Name, ...], Field(min_length=1, max_length=200)] = (GLOBAL_SCOPE,)
    """What reads may see."""


class AppliedMigration(Record):
    """One migration as the graph remembers it."""

    number: int
    name: str
    sha256: str
    applied_at: Instant


class EmbeddingModel(Record):
    """The model that filled the graph, with its mean cosines over unrelated texts."""

    name: str
    dimension: int
    mu_document: float
    """Between two documents."""
    mu_query: float
    """Between a query and a document."""


class GraphState(Record):
    """What the graph says of its own schema."""

    migrations: tuple[AppliedMigration, ...]
    model: EmbeddingModel | None


class SchemaItem(Record):
    """One index or constraint on nodes."""

    name: str
    type: str
    """As the server calls it: RANGE, FULLTEXT, VECTOR, NODE_PROPERTY_UNIQUENESS."""
    labels: tuple[str, ...]
    properties: tuple[str, ...]
    """In order; of a vector index the vector first, then what its search can filter by."""
    config: dict[str, Any] = Field(default_factory=dict)
    """Settings of the index; of a declared one only those that matter."""


class Schema(Record):
    """Every index and constraint that the graph must have, and the labels that are ours."""

    items: tuple[SchemaItem, ...]
    labels: frozenset[str]


class Difference(Record):
    """One way in which the graph's schema is not the declared one."""

    kind: Literal["missing", "unexpected", "different", "not online"]
    name: str
    """Of the index or constraint."""
    text: str
    """What was wanted and what is there."""


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


class Wish(Record):
    """One text offered to `remember`, with where it comes from.

    `id` makes the write idempotent: the same id and content give the first outcome again.
    """

    content: Annotated[str, Strict()]
    id: Name | None = None
    at: Instant | None = None
    tags: Tags = ()
    source: Name = "manual"
    actor: Name | None = None
    artifact_ref: Annotated[Text, Field(max_length=2_000)] | None = None
    episode_id: Name | None = None
    turn_id: Name | None = None


class CommitOutcome(Record):
    """What one offered text became; reported to `on_commit` after the commit."""

    outcome: Outcome
    event_id: str
    memory_id: str | None
    """The memory to use from now on; None when hygiene refused the text."""
    matched_memory_id: str | None = None
    """The memory that was already there."""
    query_score: float | None = None
    """Calibrated cosine to the matched memory, at most 1; 1.0 for an exact one."""
    possible_update_of: str | None = None
    """A memory close in wording whose numbers, dates, names or negation differ."""
    content_hash: str
    """sha256 of the normalised content, hex."""
    hygiene_reasons: tuple[str, ...] = ()
    thresholds: dict[str, float] = Field(default_factory=dict)
    occurred_at: Instant
    source: str
    tags: tuple[str, ...] = ()
    artifact_ref: str | None = None
    repeated: bool = False
    """True when this very event id had been committed before."""


class Supersession(Record):
    """What `supersede` did."""

    newer_id: str
    older_id: str
    event_id: str
    reason: str | None = None


class Memory(Record):
    """One canonical claim."""

    id: str
    scope: str
    content: str
    content_hash: str
    tags: tuple[str, ...]
    status: Status
    created_at: Instant
    """When it first happened in the world, as told by its earliest event."""
    recorded_at: Instant
    """When the store first had it, by the server's clock."""
    last_seen_at: Instant
    reinforce_count: int
    """How often it was said again, exactly or nearly."""
    head_ids: tuple[str, ...] = ()
    """For a superseded memory: what stands at the end of its chain."""


class Page(Record):
    """Some memories, newest first."""

    memories: tuple[Memory, ...]
    next_cursor: str | None
    """Pass it on to get the next page; None on the last one."""


class MemoryEvent(Record):
    """One line of a memory's history."""

    id: str
    type: str
    occurred_at: Instant
    recorded_at: Instant
    source: str | None = None
    actor: str | None = None
    artifact_ref: str | None = None
    episode_id: str | None = None
    turn_id: str | None = None
    payload: dict[str, Any] = Field(default_factory=dict)


class Link(Record):
    """One SUPERSEDES edge of a chain."""

    newer_id: str
    older_id: str
    event_id: str
    occurred_at: Instant
    recorded_at: Instant
    in_force: bool


class Chain(Record):
    """All memories that superseded one another, and where it ends."""

    memories: tuple[Memory, ...]
    links: tuple[Link, ...]
    head_ids: tuple[str, ...]


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
    entities: tuple[str, ...]
    importance: float
    occurred_at: Instant
    recorded_at: Instant
    turns: int


class TurnsAdded(Record):
    """What `add_messages` did."""

    episode_id: str
    turn_ids: tuple[str, ...]
    """One id per message given, in its order, whether added now or found."""
    added: int
    """How many of them are new."""


class Ingested(Record):
    """What `ingest` did."""

    messages: int = 0
    turns_added: int = 0
    outcomes: dict[Outcome, int] = Field(default_factory=dict)
    """New commits by outcome."""
    repeated: int = 0
    """Texts that an earlier run had committed."""


class MemoryBite(Record):
    """One recalled memory with every part of its score."""

    kind: Literal["memory"] = "memory"
    memory: Memory
    score: float
    """Sum of weight / (k + rank) over the lists that hold it."""
    similarity: float | None
    """Calibrated cosine to the query, at most 1; None when only words found it."""
    vector_rank: int | None
    bm25: float | None
    bm25_rank: int | None


class TurnBite(Record):
    """One recalled turn with every part of its score."""

    kind: Literal["turn"] = "turn"
    turn: Turn
    score: float
    similarity: float | None
    vector_rank: int | None
    bm25: float | None
    bm25_rank: int | None


class Recollection(Record):
    """What recall found, best first, and what it held back."""

    bites: tuple[MemoryBite | TurnBite, ...]
    hidden: dict[str, int] = Field(default_factory=dict)
    """How many candidates were held back, by status."""

    @property
    def reason(self) -> str:
        """Why there is nothing, in words; empty when there is something."""
        if self.bites:
            return ""
        if not self.hidden:
            return "nothing visible to this handle matches"
        return ", ".join(f"{n} hidden: {status}" for status, n in sorted(self.hidden.items()))
