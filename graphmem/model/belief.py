"""Evidence that goes in, and the slots, beliefs and verdicts that are computed from it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from graphmem.model.base import Instant, Name, Record, Text

Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number from 0 to 1."""
Part = Annotated[Text, Field(min_length=1, max_length=1_000, pattern=r"\S")]
"""A subject, a predicate or an object."""
Statement = Annotated[Text, Field(min_length=1, max_length=8_000, pattern=r"\S")]
Note = Annotated[Text, Field(max_length=10_000)]


class Kind(StrEnum):
    """Which way a piece of evidence points."""

    SUPPORTING = "supporting"
    REFUTING = "refuting"

    @property
    def polarity(self) -> int:
        """+1 or -1."""
        return 1 if self is Kind.SUPPORTING else -1


class Cardinality(StrEnum):
    """Whether the values of a predicate coexist or compete."""

    MANY = "MANY"
    ONE = "ONE"


class Combine(StrEnum):
    """How a MANY belief weighs what speaks for it against what speaks against it."""

    NET = "net"
    """max(0, P+ - P-)."""
    LOG_ODDS = "log_odds"
    """The logistic function of L- - L+."""


class VerdictStatus(StrEnum):
    """Where a sequential test stands."""

    ACCUMULATING = "accumulating"
    PROMOTED = "promoted"
    DEMOTED = "demoted"


class Triple(Record):
    """What a claim says of what."""

    subject: Part
    predicate: Part
    object: Part


class Source(Record):
    """Where an event comes from; every part is optional.

    `id` makes the write idempotent: the same id and content give the first outcome again.
    """

    id: Name | None = None
    at: Instant | None = None
    """When it happened; now by default."""
    source: Name = "manual"
    actor: Name | None = None
    artifact_ref: Annotated[Text, Field(max_length=2_000)] | None = None
    episode: Name | None = None
    """Id of the stretch of experience it comes from."""
    turn: Name | None = None
    """Id of the turn whose words it rests on."""
    note: Note | None = None


class Observation(Triple, Source):
    """One piece of evidence about a triple."""

    confidence: Unit = 0.8
    kind: Kind = Kind.SUPPORTING
    source_type: Name = "EXPLICIT"


class Hypothesis(Source):
    """A belief to be tested: a statement, a triple, or both."""

    statement: Statement | None = None
    subject: Part | None = None
    predicate: Part | None = None
    object: Part | None = None
    confidence: Unit = 0.5

    @model_validator(mode="after")
    def _whole(self) -> Self:
        parts = (self.subject, self.predicate, self.object)
        if any(part is None for part in parts) and any(part is not None for part in parts):
            raise ValueError("subject, predicate and object are given together or not at all")
        if self.statement is None and self.subject is None:
            raise ValueError("give a statement, a triple or both")
        return self


class Testimony(Source):
    """One piece of evidence about a belief that is there."""

    kind: Kind
    strength: Annotated[float, Field(allow_inf_nan=False)]
    """Likelihood that such evidence is seen when it is right; counted within [0.1, 0.9]."""


class Recorded(Record):
    """What became of one piece of evidence."""

    event_id: str
    belief_id: str
    strength: float | None = None
    """As the sequential test counts it, when one was given."""
    clamped: bool = False
    """The strength given lay outside [0.1, 0.9]."""
    counts_against: bool = False
    """Said to be supporting and weaker than 0.5, it lowers the belief; or the other way round."""
    repeated: bool = False
    """True when this very event id had been recorded before."""


class Retraction(Record):
    """What `retract` did."""

    event_id: str
    target_id: str
    found: bool
    """Whether the event to be cancelled is there; if not, it will be cancelled when it comes."""
    repeated: bool = False


class Replaced(Record):
    """What `revise`, `split` or `merge` did."""

    event_id: str
    newer_ids: tuple[str, ...]
    older_ids: tuple[str, ...]
    repeated: bool = False


class Policy(Record):
    """How the evidence of a predicate is read."""

    cardinality: Cardinality = Cardinality.MANY
    kappa: Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)] = 2.0
    """ONE: how strongly a newer value suppresses the others."""
    tau_days: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """ONE: how fast the power over older incumbents fades, days; None: it does not."""
    decay_per_day: Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)] = 0.0
    """How fast evidence fades; 0 switches it off."""
    margin: Unit = 0.05
    """ONE: the two best are ambiguous when their scores differ by less."""
    combine: Combine = Combine.NET
    """MANY."""


class Predicate(Record):
    """A predicate's policy and the event that set it."""

    name: str
    policy: Policy
    template: str | None = None
    """How a triple is read aloud, with {subject} and {object}."""
    event_id: str
    occurred_at: Instant
    recorded_at: Instant


class Verdict(Record):
    """Where the sequential test of a belief stands."""

    status: VerdictStatus
    log_ratio: float
    confidence: float
    """The initial confidence, moved at each crossing."""
    evidence: int
    """How many events were folded."""

    @property
    def revise_due(self) -> bool:
        """Demoted: it keeps its wording until somebody calls `revise`."""
        return self.status is VerdictStatus.DEMOTED


class Candidate(Record):
    """One value of a slot, with what speaks for it and against it."""

    belief_id: str
    object: str
    statement: str
    status: str
    """`current` or `superseded`."""
    belief: float
    """In [0, 1], at the instant of reading."""
    score: float
    """ONE: before fading, what ranks it. MANY: the belief."""
    positive: float
    """P+, the noisy-or of what speaks for it."""
    negative: float
    """P-, of what speaks against it."""
    supporting_episodes: int
    refuting_episodes: int
    contested: bool
    """P+ and P- are both above 0.5."""
    ambiguous: bool
    last_at: Instant | None
    """When it was last affirmed."""
    events: int

    @property
    def reinforcement_count(self) -> int:
        """How many episodes speak for it."""
        return self.supporting_episodes


class Slot(Record):
    """All values of one subject and predicate in one scope, best first."""

    scope: str
    subject: str
    predicate: str
    policy: Policy
    candidates: tuple[Candidate, ...]
    valid: Instant
    provisional: bool
    """The read at `known` may still change: it is younger than the longest transaction."""

    @property
    def leader(self) -> Candidate | None:
        """The value to use: the first candidate that anything speaks for."""
        first = self.candidates[0] if self.candidates else None
        return first if first and first.belief > 0 else None

    @property
    def ambiguous(self) -> bool:
        """Whether the two best are too close to call."""
        return any(candidate.ambiguous for candidate in self.candidates)


class Belief(Record):
    """One belief, its projection and its verdict."""

    id: str
    scope: str
    statement: str
    subject: str | None
    predicate: str | None
    object: str | None
    status: str
    created_at: Instant
    recorded_at: Instant
    initial_confidence: float
    belief: float
    positive: float
    negative: float
    supporting_episodes: int
    refuting_episodes: int
    contested: bool
    verdict: Verdict
    head_ids: tuple[str, ...] = ()
    """For a superseded belief: what stands at the end of its chain."""


class EvidenceLine(Record):
    """One piece of evidence and what it did to the test."""

    event_id: str
    type: str
    kind: Kind
    occurred_at: Instant
    recorded_at: Instant
    confidence: float
    source_type: str
    weight: float
    strength: float
    """As counted, in [0.1, 0.9]."""
    llr: float
    log_ratio: float
    """After all events of its instant."""
    status: VerdictStatus
    verdict_confidence: float
    source: str | None = None
    actor: str | None = None
    episode_id: str | None = None
    turn_id: str | None = None
    retracted: bool = False
    payload: Mapping[str, Any] = Field(default_factory=dict)
