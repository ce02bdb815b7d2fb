"""Evidence records, and the slots, beliefs and verdicts computed from them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from graphmem.model.terms import EventSource, Instant, Name, Record, Rejection, Shown, Text, Trust

Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number from 0 to 1."""
Part = Annotated[Text, Field(min_length=1, max_length=1_000, pattern=r"\S")]
"""A subject, a predicate or an object."""
Statement = Annotated[Text, Field(min_length=1, max_length=8_000, pattern=r"\S")]

MIN_LEAD = 1e-6
"""Score at or below which a value does not lead; evidence of certainty leaves less."""


class Vitality(Record):
    """Vitality of a belief as of two times, from its events: see docs/explanation/beliefs.md."""

    retrieval: float
    """R, the retrievability, in [0, 1]; it decays until the belief is accessed or supported."""
    stability_days: float
    """S, in days: the time constant of the decay of R at ordinary importance."""
    storage: int
    """Number of pieces of evidence counted, for and against it."""
    last_access_at: Instant | None
    """Time of its last `expand` in the reader's scopes; None if never expanded."""
    mean: float
    """Mean of the initial confidence and all evidence, weighted by precision, in [0, 1]."""
    precision: float
    """Precision of the mean, >= 1: the sum of all weights."""
    prior: float
    """Belief at `prior_at`, in [0, 1]: what a contradiction is compared with."""
    prior_at: Instant | None
    """Time of its last support or review (`clear_flag`); None if it has neither."""
    contradiction: float
    """Degree to which the evidence since `prior_at` refutes it, pooled, in [0, 1]."""
    gate: float
    """Prediction error, prior * contradiction, that flags the belief when it is exceeded."""
    flagged_at: Instant | None
    """Time since when it is flagged for revision; None if it is not flagged."""
    importance: float
    """Maximum importance of the supporting episodes, in [0, 1]; 0.5 if there are none."""
    derived: bool
    """Whether it was only inferred by consolidation, without a statement or other support."""


class StatusReceipt(Record):
    """Receipt of `archive`, `restore` or `clear_flag`."""

    event_id: str
    belief_id: str
    changed: bool
    """False if the state was the same before, or if a later event overrides this one."""
    status: str
    """Status of the belief afterwards: current, superseded, archived or rejected."""
    flagged: bool
    """Whether it is flagged for revision afterwards."""
    repeated: bool = False
    """Whether this event id had been recorded before."""


class EvidenceKind(StrEnum):
    """Direction of a piece of evidence."""

    SUPPORTING = "supporting"
    REFUTING = "refuting"

    @property
    def polarity(self) -> int:
        """Return +1 for supporting, -1 for refuting."""
        return 1 if self is EvidenceKind.SUPPORTING else -1

    @classmethod
    def of(cls, polarity: int) -> EvidenceKind:
        """Return the kind of a polarity; the inverse of `polarity`."""
        return cls.SUPPORTING if polarity > 0 else cls.REFUTING


class PolicyOrigin(StrEnum):
    """Origin of the policy of a read."""

    GIVEN = "given"
    """Passed by the caller."""
    DECLARED = "declared"
    """Declared in a scope that the reader reads, the nearest one."""
    BUILT_IN = "built_in"
    """Undeclared, and among the common predicates with one value at a time."""
    DEFAULT = "default"
    """Undeclared, and not among them."""


class Combine(StrEnum):
    """Formula that combines supporting and refuting evidence of a MANY belief."""

    NET = "net"
    """max(0, P+ - P-)."""
    LOG_ODDS = "log_odds"
    """The logistic function of L- - L+."""


class VerdictStatus(StrEnum):
    """Status of a sequential test."""

    ACCUMULATING = "accumulating"
    PROMOTED = "promoted"
    DEMOTED = "demoted"


class Cardinality(StrEnum):
    """Whether the values of a predicate coexist (MANY) or compete (ONE)."""

    MANY = "MANY"
    ONE = "ONE"


class Triple(Record):
    """Subject, predicate and object of a claim."""

    subject: Part
    predicate: Part
    object: Part


class EvidenceSource(EventSource):
    """Origin of a piece of evidence."""

    episode_id: Name | None = None
    """Id of the episode that the evidence comes from."""
    turn_id: Name | None = None
    """Id of the turn that it quotes."""


class Observation(Triple, EvidenceSource):
    """One piece of evidence about a triple."""

    confidence: Unit = 0.8
    kind: EvidenceKind = EvidenceKind.SUPPORTING
    source_type: Name = "EXPLICIT"
    cardinality: Cardinality | None = None
    """Cardinality of the predicate, declared with the observation if it is undeclared."""


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
            raise ValueError("subject, predicate and object must be given together or not at all")
        if self.statement is None and self.subject is None:
            raise ValueError("give a statement, a triple or both")
        return self


class BeliefEvidence(EvidenceSource):
    """One piece of evidence about an existing belief."""

    kind: EvidenceKind
    strength: Annotated[float, Field(allow_inf_nan=False)]
    """Likelihood of such evidence if it is right; clamped to [0.1, 0.9]."""


class EvidenceReceipt(Record):
    """Receipt of one piece of evidence."""

    event_id: str
    belief_id: str
    strength: float | None = None
    """Strength in the sequential test; None if none was given."""
    clamped: bool = False
    """Whether the given strength was outside [0.1, 0.9]."""
    counts_against: bool = False
    """Whether the effect is opposite to the kind: supporting evidence weaker than 0.5 lowers the
    belief, refuting evidence weaker than 0.5 raises it."""
    repeated: bool = False
    """Whether this event id had been recorded before."""
    rejection: Rejection | None = None
    """Why a person rejected the belief: the evidence is kept, the belief stays rejected; else
    None."""


class RetractionReceipt(Record):
    """Receipt of `retract`."""

    event_id: str
    target_id: str
    found: bool
    """Whether the target event exists; if not, the retraction applies when it is written."""
    proposed: bool = False
    """Whether it is only proposed, because a person stated the target: `event_id` is the id of the
    proposal, and nothing is taken back until a person accepts it."""
    repeated: bool = False


class ReplacementReceipt(Record):
    """Receipt of `revise`, `split` or `merge`."""

    event_id: str
    newer_ids: tuple[str, ...]
    older_ids: tuple[str, ...]
    repeated: bool = False


class Policy(Record):
    """Rules for reading the evidence of a predicate."""

    cardinality: Cardinality = Cardinality.MANY
    kappa: Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)] = 3.0
    """ONE: strength with which newer values suppress the others."""
    tau_days: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """ONE: time constant, in days, of the influence on older values; None for no decay."""
    decay_per_day: Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)] = 0.0
    """Decay rate of evidence per day; 0 for no decay."""
    margin: Unit = 0.1
    """ONE: the two best are ambiguous if their scores differ by less."""
    combine: Combine = Combine.LOG_ODDS
    """MANY: formula that combines supporting and refuting evidence."""


class Predicate(Record):
    """Policy of a predicate and the event that declared it."""

    name: str
    scope: str
    """Scope in which it is declared; `global` for the whole tenant."""
    policy: Policy
    template: str | None = None
    """Text of a triple, with {subject} and {object}; None for the default."""
    valid_from: Instant | None = None
    """Valid time from which the policy holds; None for every valid time."""
    event_id: str
    occurred_at: Instant
    recorded_at: Instant


class Verdict(Record):
    """State of the sequential test of a belief."""

    status: VerdictStatus
    log_ratio: float
    confidence: float
    """The initial confidence, moved at each crossing."""
    evidence: int
    """Number of events counted."""

    @property
    def revise_due(self) -> bool:
        """Whether the belief is demoted; it keeps its text until `revise` is called."""
        return self.status is VerdictStatus.DEMOTED


class EvidenceNeeded(Record):
    """Evidence missing for a promotion or a demotion; 0 for a status already reached."""

    promote: float
    """Missing log-likelihood ratio."""
    demote: float
    promote_pieces: int
    """Number of pieces of evidence of maximum strength."""
    demote_pieces: int


class Candidate(Record):
    """One value of a slot with its score."""

    belief_id: str
    object: str
    statement: str
    status: str
    """current, superseded, archived or rejected."""
    belief: float
    """Belief at the time of the read, in [0, 1]."""
    score: float
    """Ranking score. ONE: before decay. MANY: the belief."""
    events: int
    """Number of pieces of evidence read."""
    last_at: Instant | None
    """Time of its last affirmation."""
    ambiguous: bool
    """ONE: whether it is one of two values too close to decide."""
    last_id: str | None = None
    """ONE: id of the event that last affirmed it."""
    trust: Trust | None = None
    """Who vouches for it; None if it is not read."""
    positive: float | None = None
    """MANY: P+, the noisy-or of its supporting evidence."""
    negative: float | None = None
    """MANY: P-, the noisy-or of its refuting evidence."""
    log_positive: float | None = None
    log_negative: float | None = None
    supporting_episodes: int | None = None
    """MANY: number of independent supporting episodes."""
    refuting_episodes: int | None = None
    contested: bool | None = None
    """MANY: P+ and P- are both above 0.5."""

    @property
    def reinforcement_count(self) -> int | None:
        """Number of supporting episodes; None for ONE."""
        return self.supporting_episodes


class Slot(Shown):
    """Values of one subject and predicate in one scope, best first."""

    scope: str
    subject: str
    predicate: str
    policy: Policy
    policy_origin: PolicyOrigin
    """Why the slot is read by this policy."""
    policy_scope: str | None = None
    """Scope whose declaration it is; None if the predicate is not declared."""
    candidates: tuple[Candidate, ...]
    total: int
    """Number of candidates, shown or not."""
    valid: Instant
    provisional: bool
    """Whether the answer may still change: `known` is younger than the longest transaction."""
    names: tuple[str, ...] = ()
    """Aliases under which the subject was also read, folded."""
    nearest: tuple[str, ...] = ()
    """Without candidates: predicates of the subject that are most like the requested one."""
    nearest_subjects: tuple[str, ...] = ()
    """Without any fact about the subject: subjects with this predicate that are most like it, or
    all of them if they are few."""

    @property
    def cardinality(self) -> Cardinality:
        """Return the cardinality by which the slot was read."""
        return self.policy.cardinality

    @property
    def leader(self) -> Candidate | None:
        """Return the best current value that was ever affirmed; None if there is none.

        A value that certain evidence refuted since, as an ended fact, does not lead.
        """
        affirmed = (c for c in self.candidates if c.last_at is not None and c.score > MIN_LEAD)
        return next((c for c in affirmed if c.status == "current"), None)

    @property
    def ambiguous(self) -> bool:
        """Whether the two best are too close to decide."""
        return any(candidate.ambiguous for candidate in self.candidates)


class SlotPage(Record):
    """A page of slots with their best candidates, ordered by scope, subject and predicate."""

    slots: tuple[Slot, ...]
    next_cursor: str | None
    """Cursor of the next page; None on the last one."""


class BeliefText(Record):
    """Content and status of a belief; the text is the current one."""

    id: str
    scope: str
    statement: str
    subject: str | None
    predicate: str | None
    object: str | None
    status: str
    """current, superseded, archived or rejected."""
    created_at: Instant
    """Time of its first statement or evidence."""
    recorded_at: Instant
    depth: int = 0
    """1 more than the deepest belief that it generalises; 0 if it generalises none."""


class Belief(BeliefText):
    """One belief with its score and its verdict."""

    initial_confidence: float
    """Confidence before any evidence."""
    belief: float
    """Score of its evidence, in [0, 1]; without evidence, the initial confidence. For a value of a
    ONE slot, its decayed score among the candidates."""
    positive: float = 0.0
    """P+, the noisy-or of its supporting evidence."""
    negative: float = 0.0
    supporting_episodes: int = 0
    refuting_episodes: int = 0
    contested: bool = False
    verdict: Verdict
    trust: Trust | None = None
    """Who vouches for it: see docs/explanation/trust.md. None if not computed, as in `why`, whose
    result has it."""
    vitality: Vitality | None = None
    """Vitality; None if not computed, as in `recall` and `why`."""


class BeliefPage(Record):
    """A page of beliefs, newest first."""

    beliefs: tuple[Belief, ...]
    next_cursor: str | None
    """Cursor of the next page; None on the last one."""


class TrailStep(Record):
    """One piece of evidence and its effect on the sequential test."""

    event_id: str
    kind: EvidenceKind
    occurred_at: Instant
    strength: float
    """Clamped strength, in [0.1, 0.9]."""
    llr: float
    """Signed log-likelihood ratio."""
    log_ratio: float
    """Sum after all evidence of the same timestamp."""
    status: VerdictStatus
    confidence: float
    """Confidence of the verdict after all evidence of the same timestamp."""
    supposed: bool = False
    """Whether it was given to `what_if` and is not in the graph."""
    recorded_at: Instant | None = None
    type: str | None = None
    weight: float | None = None
    """Reliability of its source type, in [0, 1]; 0 if the settings have no weight for it."""
    evidence_confidence: float | None = None
    source_type: str | None = None
    source: str | None = None
    actor: str | None = None
    trust: Trust | None = None
    """Who vouches for it; None if it is supposed."""
    episode_id: str | None = None
    turn_id: str | None = None
    note: str | None = None


class Trail(Record):
    """Sequential test of a belief, step by step."""

    belief_id: str
    initial_confidence: float
    verdict: Verdict
    needed: EvidenceNeeded
    lines: tuple[TrailStep, ...]
    """One page of the evidence counted, oldest first."""
    next_cursor: str | None = None
    """Cursor of the next page; None on the last one."""


class FlipSet(Record):
    """A smallest set of evidence without which the sequential test has another status."""

    belief_id: str
    status: VerdictStatus
    evidence: int
    """Number of pieces counted."""
    event_ids: tuple[str, ...] | None
    """Ids in order of time; None if the status stays the same whatever is left out."""
    becomes: VerdictStatus | None
    """Status without them."""


class HypotheticalEvidence(Record):
    """A hypothetical piece of evidence for `what_if`."""

    kind: EvidenceKind
    strength: Annotated[float, Field(allow_inf_nan=False)]
    at: Instant | None = None
    """Time of the evidence; now by default."""
    episode_id: Name | None = None
