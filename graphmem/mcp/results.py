"""Results of tools: short records for agents; the client and the command line return all fields."""

from __future__ import annotations

from typing import Literal

from graphmem.model import Instant, Record


class OtherValueResult(Record):
    """Another value of the slot of a recalled belief."""

    id: str
    object: str
    belief: float
    at: Instant


class RecallHit(Record):
    """One recalled item."""

    id: str
    kind: Literal["memory", "belief", "turn"]
    text: str
    score: float
    at: Instant | None = None
    status: str = "current"
    now: tuple[str, ...] = ()
    belief: float | None = None
    revise_due: bool = False
    contested: bool = False
    ambiguous: bool = False
    lost: bool = False
    others: tuple[OtherValueResult, ...] = ()
    said_by: str | None = None


class RecallResult(Record):
    """Recalled items, best first."""

    hits: tuple[RecallHit, ...]
    reason: str = ""


class EventResult(Record):
    """One event."""

    id: str
    type: str
    at: Instant
    kind: str | None = None
    confidence: float | None = None
    strength: float | None = None
    source_type: str | None = None
    source: str | None = None
    actor: str | None = None
    turn: str | None = None
    retracted: bool = False


class TurnResult(Record):
    """One turn."""

    id: str
    by: str
    text: str
    at: Instant


class NeighborResult(Record):
    """Neighbour of a memory or belief in its chain."""

    id: str
    text: str


class ExpandResult(Record):
    """Everything stored about one item."""

    id: str
    kind: Literal["memory", "belief", "turn", "episode"]
    text: str
    status: str = "current"
    at: Instant
    tags: tuple[str, ...] = ()
    belief: float | None = None
    revise_due: bool = False
    events: tuple[EventResult, ...] = ()
    turns: tuple[TurnResult, ...] = ()
    supersedes: tuple[NeighborResult, ...] = ()
    superseded_by: tuple[NeighborResult, ...] = ()
    claims: tuple[NeighborResult, ...] = ()


class RememberResult(Record):
    """Outcome of a text."""

    outcome: str
    memory_id: str | None = None
    event_id: str
    possible_update_of: str | None = None
    refused_for: tuple[str, ...] = ()
    belief_ids: tuple[str, ...] = ()


class DeprecateResult(Record):
    """Result of `deprecate`."""

    memory_id: str
    event_id: str


class HistoryResult(Record):
    """Events of a memory, oldest first."""

    events: tuple[EventResult, ...]


class ValueResult(Record):
    """One value of a slot."""

    id: str
    object: str
    belief: float
    status: str = "current"
    last_at: Instant | None = None
    ambiguous: bool = False
    contested: bool = False


class SlotResult(Record):
    """The values of a slot, best first."""

    cardinality: str
    leader: str | None = None
    leader_id: str | None = None
    revise_due: bool = False
    ambiguous: bool = False
    values: tuple[ValueResult, ...]
    total: int


class SprtResult(Record):
    """State of the sequential test of a belief."""

    belief_id: str
    event_id: str | None = None
    status: str
    confidence: float
    log_ratio: float
    evidence: int
    revise_due: bool = False
    pieces_to_promote: int
    pieces_to_demote: int


class EvidenceResult(Record):
    """One piece of evidence; `says` is its share in the belief, None for an echo."""

    event_id: str
    kind: str
    at: Instant
    confidence: float | None = None
    strength: float
    source_type: str | None = None
    says: float | None = None
    echo_of: str | None = None
    log_ratio: float
    status: str
    note: str | None = None
    turn: str | None = None


class TrailResult(Record):
    """Sequential test of a belief, step by step, oldest first."""

    standing: SprtResult
    pieces: tuple[EvidenceResult, ...]


class CompetitionResult(Record):
    """Score of a value among the others: affirmed * refuted * exp(-kappa * pressure)."""

    place: int
    of: int
    leader_id: str
    affirmed: float
    refuted: float
    kappa: float
    pressure: float
    score: float


class WhyResult(Record):
    """Reasons for a belief, or the history of a memory."""

    id: str
    kind: Literal["belief", "memory"]
    text: str
    status: str = "current"
    belief: float | None = None
    speaks_for: float | None = None
    speaks_against: float | None = None
    contested: bool = False
    cardinality: str | None = None
    competition: CompetitionResult | None = None
    test: str | None = None
    confidence: float | None = None
    revise_due: bool = False
    pieces: tuple[EvidenceResult, ...] = ()
    total: int
    withdrawn: tuple[str, ...] = ()
    replaces: tuple[NeighborResult, ...] = ()
    replaced_by: tuple[NeighborResult, ...] = ()
    memories: tuple[NeighborResult, ...] = ()
    trace: float | None = None
    events: tuple[EventResult, ...] = ()
