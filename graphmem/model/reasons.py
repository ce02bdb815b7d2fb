"""Records that explain beliefs: chains, histories, provenance and score arithmetic."""

from __future__ import annotations

import math
from enum import StrEnum

from graphmem.model.belief import (
    Belief,
    BeliefText,
    EvidenceKind,
    Policy,
    PolicyOrigin,
    VerdictStatus,
)
from graphmem.model.episode import Episode, Turn
from graphmem.model.memory import ChainLink, Memory, MemoryChain, MemoryEvent
from graphmem.model.recall import Trace
from graphmem.model.terms import Instant, Record, Rejection, Shown, Trust

Item = Memory | Belief | Turn | Episode
"""Any item that can be expanded."""


class BeliefCard(BeliefText):
    """Content and status of a belief, without its score; the text is the current one."""

    head_ids: tuple[str, ...] = ()
    """Ids at the end of the chain of a superseded belief."""


class BeliefChain(Record):
    """All beliefs connected by replacement, and the heads of the chain."""

    beliefs: tuple[BeliefCard, ...]
    links: tuple[ChainLink, ...]
    head_ids: tuple[str, ...]
    provisional: bool = False
    """Whether the answer may still change: `known` is younger than the longest transaction."""


class BeliefEvent(MemoryEvent):
    """One event of a belief's history."""

    kind: EvidenceKind | None = None
    """Supporting or refuting; None if the event is not evidence."""
    confidence: float | None = None
    strength: float | None = None
    """Strength of evidence in the sequential test."""
    source_type: str | None = None
    retracted: bool = False
    """Whether the evidence was retracted."""
    target_id: str | None = None
    """Id of the event that a retraction cancels, or from which evidence was drawn."""
    memory_id: str | None = None
    """Id of the memory whose text it was committed with."""


class EpisodeRef(Record):
    """Episode that an event belongs to."""

    id: str
    session_id: str | None
    summary: str | None
    occurred_at: Instant


class GeneralisedBelief(Record):
    """A belief that another one generalises."""

    belief_id: str
    statement: str
    depth: int


class Provenance(Record):
    """Sources of a belief."""

    belief: BeliefCard
    events: tuple[BeliefEvent, ...]
    """Statements of the belief and its evidence: the newest of them, oldest first."""
    total: int
    """Number of these events, shown or not."""
    turns: tuple[Turn, ...]
    """Turns that these events quote."""
    episodes: tuple[EpisodeRef, ...]
    """Episodes in which the events occurred, oldest first."""
    memories: tuple[Memory, ...]
    """Memories whose text claims the belief."""
    derived_from: tuple[GeneralisedBelief, ...] = ()
    """Beliefs that it generalises."""
    supersedes: tuple[ChainLink, ...]
    superseded_by: tuple[ChainLink, ...]
    provisional: bool = False
    """See `BeliefChain`."""


class PolicyRead(Record):
    """Policy used to read evidence, and its origin."""

    policy: Policy
    origin: PolicyOrigin
    event_id: str | None = None
    """Id of the event that declared the policy."""
    declared_at: Instant | None = None
    declared_in: str | None = None
    """Scope of that event."""


class EvidenceDetail(Record):
    """One piece of evidence and its value in each reading."""

    event_id: str
    kind: EvidenceKind
    type: str
    occurred_at: Instant
    recorded_at: Instant
    confidence: float
    source_type: str
    weight: float
    """Reliability of the source type, in [0, 1]; 0 if the settings have no weight for it."""
    faded: float
    """MANY: the confidence decayed to the time of the read, in [0, 1)."""
    log_weight: float
    """MANY: -w ln(1 - faded), >= 0."""
    echo_of: str | None
    """MANY: id of the stronger event of its episode and kind that is counted instead."""
    score: float
    """ONE: w * confidence, in [0, 1)."""
    strength: float
    """Strength in the sequential test, in [0.1, 0.9]."""
    llr: float
    """Signed log-likelihood ratio."""
    log_ratio: float
    """Log ratio of the test after all evidence of the same timestamp."""
    status: VerdictStatus
    verdict_confidence: float
    """Confidence of the verdict after all evidence of the same timestamp."""
    episode_id: str | None = None
    turn_id: str | None = None
    """Id of the turn that it quotes."""
    memory_id: str | None = None
    """Id of the memory that was committed with it."""
    quote: str | None = None
    """Words that it quotes, else those of its turn or memory; None if it has neither."""
    source: str | None = None
    actor: str | None = None
    trust: Trust
    """Who vouches for it."""
    note: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the evidence is counted (MANY): it is not an echo."""
        return self.echo_of is None


class RetractedEvidence(Record):
    """A retracted piece of evidence, which has no effect."""

    event_id: str
    kind: EvidenceKind
    occurred_at: Instant
    confidence: float
    source_type: str
    retraction_id: str
    """Id of its newest retraction."""
    retracted_at: Instant
    """Time when the retraction became known."""
    note: str | None = None
    """Note of the retraction."""


class AliasBelief(Record):
    """A belief with the same content under aliases."""

    belief_id: str
    statement: str
    events: int
    """Number of pieces of evidence for or against it."""


class CompetingValue(Record):
    """Another value of a slot that was affirmed since."""

    belief_id: str
    object: str
    events: int


class Competition(Record):
    """Score of a value of a ONE slot, step by step."""

    place: int
    """Rank among the values of the slot, from 1."""
    of: int
    ambiguous: bool
    """Whether it is one of two values too close to decide."""
    leader_id: str
    affirmed: float
    """Score of its last affirmation; 0 if it was never affirmed."""
    affirmed_id: str | None
    affirmed_at: Instant | None
    refuted: float
    """Product of 1 - s over the refutations since, in (0, 1]."""
    refutations: int
    """Number of refutations since."""
    pressure: float
    """A: sum of the affirmations of other values since, weighted by age as the policy defines."""
    other_candidates: tuple[CompetingValue, ...]
    """Other values affirmed since, those with most events first; at most ten."""
    affirmations_of_others: int
    kappa: float
    score: float
    """affirmed * refuted * exp(-kappa * pressure)."""
    belief: float
    """The score, decayed since the last affirmation."""

    @property
    def suppressed(self) -> float:
        """Return exp(-kappa * pressure): the share left by other values, in [0, 1]."""
        return math.exp(-self.kappa * self.pressure)

    @property
    def fading(self) -> float:
        """Return the share of the score left after decay, in [0, 1]."""
        return self.belief / self.score if self.score else 1.0


class Replacement(Record):
    """A belief that replaced another, or was replaced; `chain` shows which is in force."""

    belief_id: str
    statement: str
    event_id: str
    occurred_at: Instant
    recorded_at: Instant
    note: str | None = None


class ClaimingMemory(Record):
    """A memory whose text asserts a belief."""

    memory_id: str
    content: str


class BeliefReasons(Shown):
    """Explanation of a belief's score."""

    belief: Belief
    trust: Trust
    """Who vouches for it: see docs/explanation/trust.md."""
    policy: PolicyRead
    pieces: tuple[EvidenceDetail, ...]
    """One page of the evidence, oldest first."""
    start: int
    """Number of pieces before the page."""
    total: int
    """Number of pieces in total."""
    next_cursor: str | None = None
    """Cursor of the next page; None on the last one."""
    log_positive: float
    """L+ <= 0: minus the sum of `log_weight` over the supporting pieces; P+ = 1 - exp(L+)."""
    log_negative: float
    competition: Competition | None
    """Competition of a value of a ONE slot; its belief is the score in it."""
    alias_beliefs: tuple[AliasBelief, ...] = ()
    """Beliefs that the slot counts as the same value; each has its own evidence."""
    retracted: tuple[RetractedEvidence, ...]
    """Retracted evidence, oldest first; at most one page."""
    replaces: tuple[Replacement, ...]
    replaced_by: tuple[Replacement, ...]
    memories: tuple[ClaimingMemory, ...]
    """Memories that assert the belief, oldest first; at most one page."""
    derived_from: tuple[GeneralisedBelief, ...] = ()
    """Beliefs that it generalises."""
    rejection: Rejection | None = None
    """Why a person rejected it; None if it is not rejected."""
    valid: Instant
    provisional: bool
    """Whether the answer may still change: `known` is younger than the longest transaction."""


class MemoryReasons(Shown):
    """Explanation of a memory's state."""

    memory: Memory
    trust: Trust
    """Who vouches for its text: see docs/explanation/trust.md."""
    history: tuple[MemoryEvent, ...]
    """Its newest events, oldest first."""
    chain: MemoryChain
    trace: Trace
    """Weight of its repetitions."""
    rejection: Rejection | None = None
    """Why a person rejected it; None if it is not rejected."""


class Point(Record):
    """Belief at one time."""

    at: Instant
    belief: float
    """In [0, 1]."""
    confidence: float | None = None
    """Confidence of the sequential test's verdict; None in the timeline of a slot."""
    status: VerdictStatus | None = None


class Series(Record):
    """One belief over time."""

    belief_id: str
    statement: str
    object: str | None
    points: tuple[Point, ...]
    """Points in order of time; times before its first evidence are omitted."""


class Timeline(Record):
    """Beliefs over time: the leading values of a slot, or one belief."""

    subject: str | None
    predicate: str | None
    series: tuple[Series, ...]
    """Highest at the last time first."""
    instants: tuple[Instant, ...]
    provisional: bool
    """See `BeliefReasons`."""


class ChainNeighbor(Record):
    """Neighbour of a memory or belief in its chain, and the event that linked them."""

    id: str
    text: str
    """The memory's content, or the belief's statement."""
    status: str
    event_id: str
    occurred_at: Instant
    in_force: bool
    """False once the older one was restored."""


class Card(Record):
    """Everything stored about one item and its sources; `why` has the arithmetic."""

    item: Item
    trust: Trust
    """Who vouches for its text: see docs/explanation/trust.md."""
    events: tuple[MemoryEvent | BeliefEvent, ...] = ()
    """For a memory its history, for a belief its statements and evidence: the 20 newest, oldest
    first."""
    turns: tuple[Turn, ...] = ()
    """For a memory or a belief, the turns that its events quote. For a turn, up to three before and
    three after it. For an episode, its first 100, in order."""
    episodes: tuple[EpisodeRef, ...] = ()
    """Episodes of the events or of the turn, oldest first."""
    supersedes: tuple[ChainNeighbor, ...] = ()
    """Items that it replaced, oldest first; at most 20."""
    superseded_by: tuple[ChainNeighbor, ...] = ()
    """Items that replaced it, oldest first; at most 20."""
    claims: tuple[Belief, ...] = ()
    """Beliefs that a memory's text asserts, newest first; at most 100."""
    accesses: int
    """Number of earlier expansions in the reader's scopes, as far as they are written."""
    last_access_at: Instant | None
    """Time of the last one; None if never expanded."""


class StaleReason(StrEnum):
    """Why a memory is stale."""

    AGE = "age"
    """It was not stated for long."""
    CONTRADICTED = "contradicted"
    """A claim of it has lost its slot, or was superseded or archived."""
    UNSUPPORTED = "unsupported"
    """A claim of it has more evidence against it than for it."""


class StaleMemory(Record):
    """A current memory that may no longer be true."""

    memory: Memory
    """The memory; `lost_ids` names its claims that are no longer in force."""
    days: float
    """Days since it was last stated."""
    trace: float
    """Current weight of its history, >= 0."""
    reasons: tuple[StaleReason, ...]
    """Why it may no longer be true; at least one reason."""


class StalePage(Record):
    """One page of stale memories, longest unstated first."""

    memories: tuple[StaleMemory, ...]
    next_cursor: str | None
    """Cursor of the next page; None on the last one."""
