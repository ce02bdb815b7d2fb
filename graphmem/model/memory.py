"""Memories, the outcomes of writing them, and their histories."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, Strict, model_validator

from graphmem.model.belief import Triple, Unit
from graphmem.model.terms import Instant, Name, Record, Rejection, Tags, Text, Trust

_PARTS = 3

OnUpdate: TypeAlias = Literal["insert", "supersede", "propose"]
"""Action of `remember` for a text that states another version of a memory."""


class Outcome(StrEnum):
    """Outcome of a text passed to `remember`."""

    INSERTED_NEW = "INSERTED_NEW"
    EXACT_DUPE = "EXACT_DUPE"
    NEAR_DUPE = "NEAR_DUPE"
    REJECTED_HYGIENE = "REJECTED_HYGIENE"
    REJECTED = "REJECTED"
    """A person rejected the text: see `CommitOutcome.rejection`."""


class EventType(StrEnum):
    """Type of an event."""

    ADD = "ADD"
    """A new memory: `remember`, or the text of `supersede`."""
    IMPORT = "IMPORT"
    """A new memory from an import or `ingest`."""
    REINFORCE_EXACT = "REINFORCE_EXACT"
    """The text of a memory was stored again."""
    REINFORCE_NEAR = "REINFORCE_NEAR"
    """A near duplicate of a memory was stored; holds its text."""
    SUPERSEDE = "SUPERSEDE"
    """A memory was replaced by another one."""
    DEPRECATE = "DEPRECATE"
    """A memory was hidden without a successor: `memories.deprecate`."""
    RESTORE = "RESTORE"
    """A memory, belief or episode is current again."""
    EVIDENCE = "EVIDENCE"
    """Evidence for or against a belief: `observe`, `add_evidence`, `extract`."""
    BELIEVE = "BELIEVE"
    """A hypothesis with its initial confidence: `believe`."""
    RETRACT = "RETRACT"
    """Another event is taken back for all valid times: `beliefs.retract`."""
    REVISE = "REVISE"
    """A belief was replaced by a new statement: `beliefs.revise`."""
    SPLIT = "SPLIT"
    """A belief was replaced by several: `beliefs.split`."""
    MERGE = "MERGE"
    """Several beliefs were replaced by one: `beliefs.merge`."""
    POLICY = "POLICY"
    """The policy of a predicate was declared: `predicates.declare`."""
    SAME_AS = "SAME_AS"
    """An alias was added or removed: `aliases.add`, `aliases.remove`."""
    ACCESS = "ACCESS"
    """An item or a file was opened."""
    ARCHIVE = "ARCHIVE"
    """A memory or belief was hidden: `beliefs.archive`, `usage.prune`."""
    FLAG = "FLAG"
    """A belief was flagged for review by the gate of contradictions."""
    RESOLVE = "RESOLVE"
    """The flag of a belief was cleared: `beliefs.clear_flag`."""
    GRADUATE = "GRADUATE"
    """An episode was added to the digest: `episodes.graduate`."""
    COMPRESS = "COMPRESS"
    """An episode was reduced to its summary: `episodes.compress`."""
    PIN = "PIN"
    """An episode was excluded from compression: `episodes.pin`."""
    UNPIN = "UNPIN"
    """The exclusion of an episode was ended: `episodes.unpin`."""
    UPDATE = "UPDATE"
    """The summary, entities or importance of an episode changed."""
    SEARCH = "SEARCH"
    """A search and its results, in the search log."""
    SESSION_START = "SESSION_START"
    """A session of the search log began."""
    SESSION_END = "SESSION_END"
    """A session of the search log ended."""
    ROLL_UP = "ROLL_UP"
    """Counts that replace old entries of the search log: `usage.roll_up`."""
    PROPOSE = "PROPOSE"
    """Evidence that awaits a decision: `extract` with review."""
    PROPOSE_UPDATE = "PROPOSE_UPDATE"
    """A replacement of a memory that awaits a decision."""
    PROPOSE_RETRACT = "PROPOSE_RETRACT"
    """A retraction that awaits a person's decision."""
    REOPEN = "REOPEN"
    """A forgotten scope is in use again: `admin.reopen`."""
    ACCEPT = "ACCEPT"
    """A proposal was accepted: `proposals.accept`."""
    DISMISS = "DISMISS"
    """A proposal was dismissed: `proposals.dismiss`."""
    REJECT = "REJECT"
    """A person rejected a value, memory or belief: `reject`."""
    UNREJECT = "UNREJECT"
    """A person took a rejection back: `unreject`."""


COMMITTED = frozenset(
    {EventType.ADD, EventType.IMPORT, EventType.REINFORCE_EXACT, EventType.REINFORCE_NEAR}
)
"""Types of events that commit a text: only they reinforce a memory."""
STATING = COMMITTED | {EventType.EVIDENCE}
"""Types of events that may support or refute a belief."""


class Status(StrEnum):
    """Status of a memory or a belief."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    DEPRECATED = "deprecated"
    """For a memory: hidden without a successor."""
    ARCHIVED = "archived"
    """For a belief: hidden; it can be restored."""
    REJECTED = "rejected"
    """A person rejected what it states; only `unreject` makes it current again."""


def _triple(given: object) -> object:
    if isinstance(given, list | tuple):
        if len(given) != _PARTS:
            raise ValueError("a claim must have a subject, a predicate and an object")
        return dict(zip(("subject", "predicate", "object"), given, strict=True))
    return given


Claims = Annotated[tuple[Annotated[Triple, BeforeValidator(_triple)], ...], Field(max_length=64)]
"""Claims of a text: triples, or sequences of their three parts."""


class NewMemory(Record):
    """One text for `remember`, with its source and its claims.

    `id` is an idempotency key: the same id and content return the first outcome again.
    """

    content: Annotated[str, Strict()]
    event_id: Name | None = None
    at: Instant | None = None
    tags: Tags = ()
    source: Name = "manual"
    actor: Name | None = None
    artifact_ref: Annotated[Text, Field(max_length=2_000)] | None = None
    episode_id: Name | None = None
    turn_id: Name | None = None
    claims: Claims = ()
    """Claims that the text is evidence for, also if it is a duplicate."""
    confidence: Unit = 0.8
    """Confidence of the claims."""
    source_type: Name = "EXPLICIT"
    """Source type of that evidence; the settings give its weight."""
    on_update: OnUpdate = "insert"
    """Action for a memory that the text updates: see `remember`."""

    @model_validator(mode="after")
    def _of_claims(self) -> Self:
        if not self.claims and self.model_fields_set & {"confidence", "source_type"}:
            raise ValueError("confidence and source_type require claims")
        return self


class RefusedClaim(Record):
    """A claim of a text that hygiene refused; the text itself was stored."""

    place: int
    """Index of the claim in `claims`. Its words are not repeated."""
    reasons: tuple[str, ...]
    """Hygiene rules that refused it."""


class CommitOutcome(Record):
    """Outcome of one text; passed to `on_commit` after the commit."""

    outcome: Outcome
    event_id: str
    memory_id: str | None
    """Id of the memory to use from now on; None if hygiene or a person rejected the text."""
    matched_memory_id: str | None = None
    """Id of the existing memory that matched."""
    query_score: float | None = None
    """Calibrated cosine to the matched memory, at most 1; 1.0 for an exact match."""
    possible_update_of: str | None = None
    """Id of a memory that may state the same fact with another value, or negated."""
    superseded_ids: tuple[str, ...] = ()
    """Ids of the memories that it replaced: by `on_update="supersede"`, or if stated again."""
    proposal_id: str | None = None
    """Id of the proposal to replace `possible_update_of`; only with `on_update="propose"`."""
    content_hash: str
    """sha256 of the normalised content, hex."""
    hygiene_reasons: tuple[str, ...] = ()
    """Hygiene rules that rejected it; `erased` if it, or its source, was erased."""
    thresholds: dict[str, float] = Field(default_factory=dict)
    occurred_at: Instant
    source: str
    tags: tuple[str, ...] = ()
    artifact_ref: str | None = None
    belief_ids: tuple[str, ...] = ()
    """Ids of the beliefs that it is evidence for."""
    rejection: Rejection | None = None
    """Why a person rejected the text, so that nothing was written; else None."""
    rejected_ids: tuple[str, ...] = ()
    """Those of `belief_ids` that a person rejected; they stay rejected."""
    refused_claims: tuple[RefusedClaim, ...] = ()
    """Claims that must not be stored; the text is stored without them."""
    repeated: bool = False
    """Whether this event id had been committed before."""


class Supersession(Record):
    """Receipt of `supersede`."""

    newer_id: str
    older_id: str
    """Id of the memory that was superseded: the head of the chain of the requested one."""
    event_id: str
    reason: str | None = None
    requested_id: str | None = None
    """Id of the memory that was requested, if it was not the head; else None."""


class Memory(Record):
    """One sentence worth recalling."""

    id: str
    scope: str
    content: str
    content_hash: str
    tags: tuple[str, ...]
    status: Status
    created_at: Instant
    """Time of its earliest event in the world."""
    recorded_at: Instant
    """Time of its first event in the store, by the server's clock."""
    last_seen_at: Instant
    reinforce_count: int
    """Number of repetitions, exact or near."""
    head_ids: tuple[str, ...] = ()
    """Ids at the end of the chain of a superseded memory."""
    claim_ids: tuple[str, ...] = ()
    """Ids of the beliefs that its text asserts."""
    trust: Trust | None = None
    """Who vouches for its text: see docs/explanation/trust.md. None if not computed; only `get`,
    `list` and `recall` compute it."""
    lost_ids: tuple[str, ...] | None = None
    """Those of `claim_ids` that are superseded, archived or not the leader of their ONE slot; an
    ambiguous leader has not lost. None if not computed; only `get` and `recall` compute it."""
    provisional: bool = False
    """Whether `known` is so recent that an unfinished write may still be recorded before it."""


class Page(Record):
    """A page of memories, newest first."""

    memories: tuple[Memory, ...]
    next_cursor: str | None
    """Cursor of the next page; None on the last one."""
    provisional: bool = False
    """See `Memory`."""


class MemoryEvent(Record):
    """One event of the history of a memory or an episode."""

    id: str
    type: str
    occurred_at: Instant
    recorded_at: Instant
    source: str | None = None
    actor: str | None = None
    artifact_ref: str | None = None
    episode_id: str | None = None
    turn_id: str | None = None
    trust: Trust | None = None
    """Who vouches for it; None for an event that states nothing, such as a retraction."""
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
    """All memories connected by supersession, and the heads of the chain."""

    memories: tuple[Memory, ...]
    links: tuple[ChainLink, ...]
    head_ids: tuple[str, ...]
    provisional: bool = False
    """See `Memory`."""
