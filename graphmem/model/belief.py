"""Evidence that goes in, and the slots, beliefs and verdicts that are computed from it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from graphmem.model.terms import Instant, Name, Record, Text
from graphmem.model.vitality import Vitality

Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number from 0 to 1."""
Part = Annotated[Text, Field(min_length=1, max_length=1_000, pattern=r"\S")]
"""A subject, a predicate or an object."""
Statement = Annotated[Text, Field(min_length=1, max_length=8_000, pattern=r"\S")]
Note = Annotated[Text, Field(max_length=10_000)]


class EvidenceKind(StrEnum):
    """Which way a piece of evidence points."""

    SUPPORTING = "supporting"
    REFUTING = "refuting"

    @property
    def polarity(self) -> int:
        """+1 or -1."""
        return 1 if self is EvidenceKind.SUPPORTING else -1

    @classmethod
    def of(cls, polarity: int) -> EvidenceKind:
        """Return which way a polarity points; the inverse of `polarity`."""
        return cls.SUPPORTING if polarity > 0 else cls.REFUTING


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


class EventSource(Record):
    """Where an event comes from; every part is optional.

    `id` makes the write idempotent: the same id and content give the first outcome again.
    """

    id: Name | None = None
    at: Instant | None = None
    """When it happened; now by default."""
    source: Name = "manual"
    actor: Name | None = None
    artifact_ref: Annotated[Text, Field(max_length=2_000)] | None = None
    note: Note | None = None


class EvidenceSource(EventSource):
    """Where what was experienced comes from."""

    episode: Name | None = None
    """Id of the stretch of experience it comes from."""
    turn: Name | None = None
    """Id of the turn whose words it rests on."""


class Observation(Triple, EvidenceSource):
    """One piece of evidence about a triple."""

    confidence: Unit = 0.8
    kind: EvidenceKind = EvidenceKind.SUPPORTING
    source_type: Name = "EXPLICIT"


class Hypothesis(EvidenceSource):
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


class BeliefEvidence(EvidenceSource):
    """One piece of evidence about a belief that is there."""

    kind: EvidenceKind
    strength: Annotated[float, Field(allow_inf_nan=False)]
    """Likelihood that such evidence is seen when it is right; counted within [0.1, 0.9]."""


class EvidenceReceipt(Record):
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


class RetractionReceipt(Record):
    """What `retract` did."""

    event_id: str
    target_id: str
    found: bool
    """Whether the event to be cancelled is there; if not, it will be cancelled when it comes."""
    repeated: bool = False


class ReplacementReceipt(Record):
    """What `revise`, `split` or `merge` did."""

    event_id: str
    newer_ids: tuple[str, ...]
    older_ids: tuple[str, ...]
    repeated: bool = False


class Policy(Record):
    """How the evidence of a predicate is read."""

    cardinality: Cardinality = Cardinality.MANY
    kappa: Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)] = 3.0
    """ONE: how strongly a newer value suppresses the others."""
    tau_days: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """ONE: how fast the power over older incumbents fades, days; None: it does not."""
    decay_per_day: Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)] = 0.0
    """How fast evidence fades; 0 switches it off."""
    margin: Unit = 0.1
    """ONE: the two best are ambiguous when their scores differ by less."""
    combine: Combine = Combine.LOG_ODDS
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


class Alias(Record):
    """A name, whom it stands for, and the event that says so."""

    name: str
    same_as: str | None
    """None: itself, again."""
    event_id: str
    occurred_at: Instant


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


class EvidenceNeeded(Record):
    """How much more evidence would promote or demote; 0 for what has happened already."""

    promote: float
    """Logarithmic units."""
    demote: float
    promote_pieces: int
    """Pieces of evidence of the greatest strength."""
    demote_pieces: int


class Candidate(Record):
    """One value of a slot, with what speaks for it and against it."""

    belief_id: str
    object: str
    statement: str
    status: str
    """current, superseded or archived."""
    belief: float
    """In [0, 1], at the instant of reading."""
    score: float
    """What ranks it. ONE: before fading. MANY: the belief."""
    events: int
    """How many pieces of evidence were read."""
    last_at: Instant | None
    """When it was last affirmed."""
    ambiguous: bool
    """ONE: one of two too close to call."""
    last_id: str | None = None
    """ONE: the event that last affirmed it."""
    positive: float | None = None
    """MANY: P+, the noisy-or of what speaks for it."""
    negative: float | None = None
    """MANY: P-, of what speaks against it."""
    log_positive: float | None = None
    log_negative: float | None = None
    supporting_episodes: int | None = None
    """MANY: independent episodes that speak for it."""
    refuting_episodes: int | None = None
    contested: bool | None = None
    """MANY: P+ and P- are both above 0.5."""

    @property
    def reinforcement_count(self) -> int | None:
        """MANY: how many episodes speak for it."""
        return self.supporting_episodes


class Slot(Record):
    """The values of one subject and predicate in one scope, best first."""

    scope: str
    subject: str
    predicate: str
    policy: Policy
    candidates: tuple[Candidate, ...]
    total: int
    """How many candidates there are, shown or not."""
    valid: Instant
    provisional: bool
    """The answer may still change: `known` is younger than the longest transaction."""
    names: tuple[str, ...] = ()
    """Under which other names the subject was read, folded."""

    @property
    def leader(self) -> Candidate | None:
        """The value to use: the best that was ever affirmed and is current."""
        fit = (c for c in self.candidates if c.last_at is not None and c.status == "current")
        return next(fit, None)

    @property
    def ambiguous(self) -> bool:
        """Whether the two best are too close to call."""
        return any(candidate.ambiguous for candidate in self.candidates)


class SlotPage(Record):
    """Some slots with their best candidates, in the order of scope, subject and predicate."""

    slots: tuple[Slot, ...]
    next_cursor: str | None
    """Pass it on to get the next page; None on the last one."""


class Belief(Record):
    """One belief, what is believed of it and where its test stands."""

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
    """Before any evidence."""
    belief: float
    """In [0, 1]: the projection of its evidence; without any, the initial confidence. Of a ONE
    slot's value its faded score among the others."""
    positive: float = 0.0
    """P+, the noisy-or of what speaks for it."""
    negative: float = 0.0
    supporting_episodes: int = 0
    refuting_episodes: int = 0
    contested: bool = False
    verdict: Verdict
    vitality: Vitality | None = None
    """How alive it is; None: not looked at, as `why` does not."""


class BeliefPage(Record):
    """Some beliefs, newest first."""

    beliefs: tuple[Belief, ...]
    next_cursor: str | None
    """Pass it on to get the next page; None on the last one."""


class TrailStep(Record):
    """One piece of evidence and what it did to the sequential test."""

    event_id: str
    kind: EvidenceKind
    occurred_at: Instant
    strength: float
    """As counted, in [0.1, 0.9]."""
    llr: float
    """Its logarithm of the likelihood ratio, its sign included."""
    log_ratio: float
    """The sum, after all evidence of its instant."""
    status: VerdictStatus
    confidence: float
    """Of the verdict, after all evidence of its instant."""
    supposed: bool = False
    """It was given to `what_if` and is not in the graph."""
    recorded_at: Instant | None = None
    type: str | None = None
    weight: float | None = None
    """Reliability of its source type, in [0, 1]; 0: the reader's settings know no such type."""
    evidence_confidence: float | None = None
    source_type: str | None = None
    source: str | None = None
    actor: str | None = None
    episode_id: str | None = None
    turn_id: str | None = None
    note: str | None = None


class Trail(Record):
    """The sequential test of a belief, piece by piece."""

    belief_id: str
    initial_confidence: float
    verdict: Verdict
    needed: EvidenceNeeded
    lines: tuple[TrailStep, ...]
    """A page of the evidence that counts, oldest first."""


class FlipSet(Record):
    """A smallest set of evidence without which a sequential test has another status."""

    belief_id: str
    status: VerdictStatus
    evidence: int
    """How many pieces count."""
    event_ids: tuple[str, ...] | None
    """In the order of their instants; None: whatever is left out, the status stays."""
    becomes: VerdictStatus | None
    """The status without them."""


class HypotheticalEvidence(Record):
    """A piece of evidence that `what_if` is to suppose."""

    kind: EvidenceKind
    strength: Annotated[float, Field(allow_inf_nan=False)]
    at: Instant | None = None
    """Now by default."""
    episode: Name | None = None
