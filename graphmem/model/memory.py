"""Memories, what becomes of a text, and how a memory came about."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, Strict, model_validator

from graphmem.model.belief import Triple, Unit
from graphmem.model.terms import Instant, Name, Record, Tags, Text

_PARTS = 3


class Outcome(StrEnum):
    """What became of a text offered to `remember`."""

    INSERTED_NEW = "INSERTED_NEW"
    EXACT_DUPE = "EXACT_DUPE"
    NEAR_DUPE = "NEAR_DUPE"
    REJECTED_HYGIENE = "REJECTED_HYGIENE"


class EventType(StrEnum):
    """What an event says happened."""

    ADD = "ADD"
    IMPORT = "IMPORT"
    REINFORCE_EXACT = "REINFORCE_EXACT"
    REINFORCE_NEAR = "REINFORCE_NEAR"
    SUPERSEDE = "SUPERSEDE"
    DEPRECATE = "DEPRECATE"
    RESTORE = "RESTORE"
    EVIDENCE = "EVIDENCE"
    BELIEVE = "BELIEVE"
    RETRACT = "RETRACT"
    REVISE = "REVISE"
    SPLIT = "SPLIT"
    MERGE = "MERGE"
    POLICY = "POLICY"
    SAME_AS = "SAME_AS"
    ACCESS = "ACCESS"
    ARCHIVE = "ARCHIVE"
    FLAG = "FLAG"
    RESOLVE = "RESOLVE"
    GRADUATE = "GRADUATE"
    COMPRESS = "COMPRESS"
    SEARCH = "SEARCH"
    SESSION_START = "SESSION_START"
    SESSION_END = "SESSION_END"
    ROLL_UP = "ROLL_UP"
    PROPOSE = "PROPOSE"
    ACCEPT = "ACCEPT"
    REJECT = "REJECT"


class Status(StrEnum):
    """Whether a memory, or a belief, is what should be recalled now."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    DEPRECATED = "deprecated"
    """Of a memory: hidden without a successor."""
    ARCHIVED = "archived"
    """Of a belief: put away, to be restored whenever it is wanted."""


def _triple(given: object) -> object:
    if isinstance(given, list | tuple):
        if len(given) != _PARTS:
            raise ValueError("a claim has a subject, a predicate and an object")
        return dict(zip(("subject", "predicate", "object"), given, strict=True))
    return given


Claims = Annotated[tuple[Annotated[Triple, BeforeValidator(_triple)], ...], Field(max_length=64)]
"""What a text asserts: triples, or their three parts."""


class NewMemory(Record):
    """One text offered to `remember`, with where it comes from and what it asserts.

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
    claims: Claims = ()
    """For each the text is a piece of evidence, a duplicate's too."""
    confidence: Unit = 0.8
    """In the claims."""
    source_type: Name = "EXPLICIT"
    """Of that evidence; it has a weight."""

    @model_validator(mode="after")
    def _of_claims(self) -> Self:
        if not self.claims and self.model_fields_set & {"confidence", "source_type"}:
            raise ValueError("confidence and source_type are those of claims, and none is given")
        return self


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
    """Rules of hygiene that refused it; `erased`: it was forgotten, or what it would be part of."""
    thresholds: dict[str, float] = Field(default_factory=dict)
    occurred_at: Instant
    source: str
    tags: tuple[str, ...] = ()
    artifact_ref: str | None = None
    belief_ids: tuple[str, ...] = ()
    """Of the claims that it is evidence for."""
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
    claim_ids: tuple[str, ...] = ()
    """Beliefs that its text asserts."""
    lost_ids: tuple[str, ...] | None = None
    """Of these, what was superseded or archived, and values of ONE slots that another value leads;
    one of two too close to call has not lost. None: not looked at; only `get` and `recall` look."""
    provisional: bool = False
    """Read at a `known` so recent that a write under way may still be recorded before it."""


class Page(Record):
    """Some memories, newest first."""

    memories: tuple[Memory, ...]
    next_cursor: str | None
    """Pass it on to get the next page; None on the last one."""
    provisional: bool = False
    """See `Memory`."""


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


class ChainLink(Record):
    """One SUPERSEDES edge of a chain."""

    newer_id: str
    older_id: str
    event_id: str
    occurred_at: Instant
    recorded_at: Instant
    in_force: bool


class MemoryChain(Record):
    """All memories that superseded one another, and where it ends."""

    memories: tuple[Memory, ...]
    links: tuple[ChainLink, ...]
    head_ids: tuple[str, ...]
    provisional: bool = False
    """See `Memory`."""
