"""How beliefs came about: their chains, their histories and where they come from."""

from __future__ import annotations

import math
from enum import StrEnum

from graphmem.model.belief import Belief, EvidenceKind, Policy, VerdictStatus
from graphmem.model.episode import Episode, Turn
from graphmem.model.memory import ChainLink, Memory, MemoryChain, MemoryEvent
from graphmem.model.recall import Trace
from graphmem.model.terms import Instant, Record


class BeliefCard(Record):
    """What a belief says, without what is believed of it; its wording is that of now."""

    id: str
    scope: str
    statement: str
    subject: str | None
    predicate: str | None
    object: str | None
    status: str
    """current, superseded or archived."""
    created_at: Instant
    """When it was first stated, or spoken of."""
    recorded_at: Instant
    head_ids: tuple[str, ...] = ()
    """For a superseded belief: what stands at the end of its chain."""


class BeliefChain(Record):
    """All beliefs that took one another's place, and where it ends."""

    beliefs: tuple[BeliefCard, ...]
    links: tuple[ChainLink, ...]
    head_ids: tuple[str, ...]
    provisional: bool = False
    """The answer may still change: `known` is younger than the longest transaction."""


class BeliefEvent(MemoryEvent):
    """One line of a belief's history."""

    kind: EvidenceKind | None = None
    """Of evidence: which way it points."""
    confidence: float | None = None
    strength: float | None = None
    """Of testimony, as the sequential test counts it."""
    source_type: str | None = None
    retracted: bool = False
    """Evidence that was taken back."""
    target_id: str | None = None
    """Of a retraction: the event that it cancels."""
    memory_id: str | None = None
    """The memory whose text it was committed with."""


class EpisodeRef(Record):
    """An episode, as the place of an event."""

    id: str
    session_id: str | None
    summary: str | None
    occurred_at: Instant


class Provenance(Record):
    """Where a belief comes from."""

    belief: BeliefCard
    events: tuple[BeliefEvent, ...]
    """What states it and what counts as evidence: the newest of them, oldest first."""
    total: int
    """How many there are, shown or not."""
    turns: tuple[Turn, ...]
    """Whose words these events rest on."""
    episodes: tuple[EpisodeRef, ...]
    """In which they occurred, oldest first."""
    memories: tuple[Memory, ...]
    """Whose text claims it."""
    supersedes: tuple[ChainLink, ...]
    superseded_by: tuple[ChainLink, ...]
    provisional: bool = False
    """See `BeliefChain`."""


class PolicyOrigin(StrEnum):
    """Where the policy of a read comes from."""

    GIVEN = "given"
    """By the reader."""
    DECLARED = "declared"
    DEFAULT = "default"
    """Nobody declared one for the predicate, or not yet then."""


class PolicyRead(Record):
    """The policy that evidence was read by, and where it comes from."""

    policy: Policy
    origin: PolicyOrigin
    event_id: str | None = None
    """The event that declared it."""
    declared_at: Instant | None = None
    present: bool = False
    """The present one was asked for, not that of the time asked about."""


class EvidenceDetail(Record):
    """One piece of evidence and what it says in each of the readings."""

    event_id: str
    kind: EvidenceKind
    type: str
    occurred_at: Instant
    recorded_at: Instant
    confidence: float
    source_type: str
    weight: float
    """Reliability of the source type, in [0, 1]; 0: the reader's settings know no such type."""
    faded: float
    """MANY: the confidence at the instant of reading, in [0, 1)."""
    says: float
    """MANY: -w ln(1 - faded), >= 0."""
    echo_of: str | None
    """MANY: the stronger event of its episode and kind that counts in its place."""
    score: float
    """ONE: w * confidence, in [0, 1)."""
    strength: float
    """In the sequential test, in [0.1, 0.9]."""
    llr: float
    """Its logarithm of the likelihood ratio, its sign included."""
    log_ratio: float
    """Of the test, after all evidence of its instant."""
    status: VerdictStatus
    verdict_confidence: float
    """Of the verdict, after all evidence of its instant."""
    episode_id: str | None = None
    turn_id: str | None = None
    """The turn whose words it quotes."""
    memory_id: str | None = None
    """The memory that was committed with it."""
    source: str | None = None
    actor: str | None = None
    note: str | None = None

    @property
    def counts(self) -> bool:
        """MANY: it is no echo."""
        return self.echo_of is None


class RetractedEvidence(Record):
    """A piece of evidence that was taken back and says nothing."""

    event_id: str
    kind: EvidenceKind
    occurred_at: Instant
    confidence: float
    source_type: str
    retraction_id: str
    """The newest word about it."""
    retracted_at: Instant
    """When that became known."""
    note: str | None = None
    """Of the retraction."""


class AliasBelief(Record):
    """A belief that says the same by other names."""

    belief_id: str
    statement: str
    events: int
    """How many speak for or against it."""


class CompetingValue(Record):
    """Another value of a slot that was affirmed since."""

    belief_id: str
    object: str
    events: int


class Competition(Record):
    """How a value of a ONE slot came to its score."""

    place: int
    """Among the values of the slot, from 1."""
    of: int
    ambiguous: bool
    """One of two too close to call."""
    leader_id: str
    affirmed: float
    """Score of its last affirmation; 0 when it was never affirmed."""
    affirmed_id: str | None
    affirmed_at: Instant | None
    refuted: float
    """Product of 1 - s over what refuted it since, in (0, 1]."""
    refutations: int
    """How many pieces of evidence did."""
    pressure: float
    """A: how much others were affirmed since, by age as the policy has it."""
    rivals: tuple[CompetingValue, ...]
    """Which others were, those with most events first; ten at most."""
    affirmations_of_others: int
    kappa: float
    score: float
    """affirmed * refuted * exp(-kappa * pressure)."""
    belief: float
    """The score, faded since the last affirmation."""

    @property
    def suppressed(self) -> float:
        """exp(-kappa * pressure): what others left of it, in [0, 1]."""
        return math.exp(-self.kappa * self.pressure)

    @property
    def fading(self) -> float:
        """What time left of the score, in [0, 1]."""
        return self.belief / self.score if self.score else 1.0


class Replacement(Record):
    """A belief put in another's place, or there before it; `chain` tells what is in force."""

    belief_id: str
    statement: str
    event_id: str
    occurred_at: Instant
    recorded_at: Instant
    note: str | None = None


class ClaimingMemory(Record):
    """A memory whose sentence asserts a belief."""

    memory_id: str
    content: str


class BeliefReasons(Record):
    """Why a belief is believed as it is."""

    belief: Belief
    policy: PolicyRead
    pieces: tuple[EvidenceDetail, ...]
    """A page of the evidence that is read, oldest first."""
    start: int
    """Pieces passed over before the page."""
    total: int
    """How many pieces there are."""
    log_positive: float
    """L+ <= 0: minus the sum of what its supporting pieces say; P+ = 1 - exp(L+)."""
    log_negative: float
    competition: Competition | None
    """Of a value of a ONE slot; its belief is the score in it."""
    namesakes: tuple[AliasBelief, ...] = ()
    """What else its slot counts as the same value; each has pieces of its own."""
    withdrawn: tuple[RetractedEvidence, ...]
    """What was taken back, oldest first; as many as a page has at most."""
    replaces: tuple[Replacement, ...]
    replaced_by: tuple[Replacement, ...]
    memories: tuple[ClaimingMemory, ...]
    """What asserts it, oldest first; as many as a page has at most."""
    valid: Instant
    provisional: bool
    """The answer may still change: `known` is younger than the longest transaction."""


class MemoryReasons(Record):
    """Why a memory is remembered as it is."""

    memory: Memory
    history: tuple[MemoryEvent, ...]
    """Its newest events, oldest of them first."""
    chain: MemoryChain
    trace: Trace
    """How much it counts that it was said again."""


class Point(Record):
    """What was believed at one instant."""

    at: Instant
    belief: float
    """In [0, 1]."""
    confidence: float | None = None
    """Of the sequential test's verdict; None in the timeline of a slot."""
    status: VerdictStatus | None = None


class Series(Record):
    """One belief over time."""

    belief_id: str
    statement: str
    object: str | None
    points: tuple[Point, ...]
    """In order of time; instants before its first evidence are left out."""


class Timeline(Record):
    """How beliefs moved: of a slot its leading values, else one belief."""

    subject: str | None
    predicate: str | None
    series: tuple[Series, ...]
    """Best at the last instant first."""
    instants: tuple[Instant, ...]
    provisional: bool
    """See `BeliefReasons`."""


Item = Memory | Belief | Turn | Episode
"""Anything that can be looked at."""


class ChainNeighbor(Record):
    """What stands next to a memory or a belief in its chain, and the event that put it there."""

    id: str
    text: str
    """The memory's content, or the belief's statement."""
    status: str
    event_id: str
    occurred_at: Instant
    in_force: bool
    """False once the older one came back."""


class Card(Record):
    """All that is kept of one item, and where it comes from; `why` has the arithmetic."""

    item: Item
    events: tuple[MemoryEvent | BeliefEvent, ...] = ()
    """Of a memory what happened to it, of a belief what states it and counts as evidence: the 20
    newest, oldest of them first."""
    turns: tuple[Turn, ...] = ()
    """Of a memory or a belief, whose words these events rest on; of a turn, the three said before
    it and the three after it; of an episode, its first 100, in their order."""
    episodes: tuple[EpisodeRef, ...] = ()
    """In which the events occurred or the turn was said, oldest first."""
    supersedes: tuple[ChainNeighbor, ...] = ()
    """What it was put in the place of, oldest first; 20 of each at most."""
    superseded_by: tuple[ChainNeighbor, ...] = ()
    """What was put in its place, oldest first."""
    claims: tuple[Belief, ...] = ()
    """Of a memory, what its text asserts, the newest first; 100 at most."""
    accesses: int
    """How often it was expanded before, in the scopes of the reader, as far as that is written."""
    last_access_at: Instant | None
    """When last; None: never."""


class StaleMemory(Record):
    """A current memory that nobody has said for long; it may no longer be true."""

    memory: Memory
    """Its `lost_ids` say which of its claims have lost."""
    days: float
    """Since it was last said."""
    trace: float
    """How much its history counts now, >= 0."""


class StalePage(Record):
    """Some of these, longest ago first."""

    memories: tuple[StaleMemory, ...]
    next_cursor: str | None
    """Pass it on to get the next page; None on the last one."""
