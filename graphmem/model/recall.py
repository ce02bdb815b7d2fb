"""What recall gives back."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from graphmem.model.belief import Belief, EvidenceKind
from graphmem.model.episode import Turn
from graphmem.model.memory import Memory
from graphmem.model.terms import Instant, Record
from graphmem.model.usage import Rating

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class TraceRank(Record):
    """How much a history of being said again counts."""

    tau_days: float = Field(21.0, gt=0)
    """Time constant of recency, days."""
    spacing: Weight = 0.1
    """b: what a gap adds, 1 + b ln(1 + days), over a repetition at once."""
    weight: Weight = 0.35
    """k of final = max(similarity, 0) * (1 + k ln(1 + trace)); 0: history does not count."""


class Score(StrEnum):
    """What recall ranks by."""

    BLENDED = "blended"
    """Weighted sum of the lists, each put on the scale from its worst to the best of all."""
    FUSED = "fused"
    """Reciprocal rank fusion: sum of weight / (k + rank) over the lists."""
    FLAT = "flat"
    """1 / (1 + d), d the Euclidean distance of unit vectors; meaning alone."""
    TRACE = "trace"
    """TraceRank's final; meaning and history."""
    ESPER = "esper"
    """blend / (1 + d) + (1 - blend) * belief; what is no belief counts as one of 0.5."""


class RecallPolicy(Record):
    """How what fits a question is ranked.

    The defaults are what measured best; docs/recall.md shows what each part adds.
    """

    score: Score = Score.BLENDED
    pool: int = Field(200, ge=1, le=1_000)
    """Candidates of each list."""
    k: int = Field(60, ge=1)
    """Of the reciprocal rank fusion."""
    vector_weight: Weight = 0.7
    """Of the lists by meaning: a small offline embedder must not outvote the words."""
    words_weight: Weight = 1.0
    recency_weight: Weight = 0.0
    """Of how lately it was said; blended: e^(-days / recency_days)."""
    recency_days: float = Field(21.0, gt=0)
    access_weight: Weight = 0.0
    """Of how often it was opened by `expand`; 0 by default, since what is shown is opened."""
    around: float = Field(0.18, ge=0, lt=1)
    """Blended: the share that a turn gives to its neighbours; its square to theirs, and so on."""
    reach: int = Field(1, ge=0, le=5)
    """How far that goes, turns to each side."""
    named: Weight = 0.8
    """Blended: added when the question names who said a turn, or whom a belief is about."""
    dated: Weight = 0.5
    """Blended: added when it happened on a day or in a month that the question names, or in the
    week after."""
    machine: float = Field(0.8, ge=0, le=1)
    """Blended: what counts of a turn that a model, a tool or a system said."""
    min_similarity: float | None = Field(None, ge=-1, le=1)
    """Leave out what is less similar, or was found by words only; None: nothing."""
    beliefs: int = Field(20, ge=1, le=50)
    """Of how many beliefs, the most relevant, the evidence is read."""
    blend: float = Field(0.4, ge=0, le=1)
    """alpha: a belief's score is relevance * (alpha + (1 - alpha) * belief); see also ESPER."""
    trace: TraceRank = TraceRank()
    most: int | None = Field(None, ge=1)
    """Never more hits than this; None: as many as are asked for."""


POLICIES = {
    "default": RecallPolicy(),
    "flat": RecallPolicy(score=Score.FLAT),
    "trace": RecallPolicy(score=Score.TRACE),
    "esper": RecallPolicy(score=Score.ESPER),
    "engram": RecallPolicy(
        score=Score.FUSED,
        vector_weight=1.0,
        words_weight=0.4,
        recency_weight=0.6,
        access_weight=0.4,
        min_similarity=0.25,
        most=3,
    ),
    "agent": RecallPolicy(
        vector_weight=0.25,
        words_weight=0.25,
        recency_weight=0.3,
        access_weight=0.2,
        reach=0,
        named=0.0,
    ),
}
"""By name."""


class TraceContribution(Record):
    """What one event adds to a trace: recency * burst * spacing."""

    event_id: str
    at: Instant
    recency: float
    """e^(-days since / tau), in (0, 1]."""
    burst: float
    """1 for a full event; 0.1^j for the j-th within a day of one."""
    spacing: float
    """1 + b ln(1 + days since the full event before), >= 1."""


class Trace(Record):
    """How much it counts at an instant that a memory was said again and again."""

    at: Instant
    by: TraceRank
    trace: float
    """Sum over all events, >= 0."""
    factor: float
    """1 + k ln(1 + trace): what it does to a similarity above 0."""
    sayings: tuple[TraceContribution, ...]
    """The newest events, oldest of them first."""
    total: int
    """How many events there are."""


class ScoreBreakdown(Record):
    """What adds up to how relevant something is to a question."""

    meaning: float = 0.0
    words: float = 0.0
    recency: float = 0.0
    access: float = 0.0
    around: float = 0.0
    """From the turns before and after it."""
    named: float = 0.0
    """The question names who said it, or whom it is about."""
    dated: float = 0.0
    """The question names when it happened."""
    factor: float = 1.0
    """Less than 1 for what a machine said."""

    @property
    def relevance(self) -> float:
        """The factor times the sum of the others."""
        lists = self.meaning + self.words + self.recency + self.access
        return self.factor * (lists + self.around + self.named + self.dated)


class Reason(Record):
    """One event that a bite rests on."""

    event_id: str
    type: str
    at: Instant
    kind: EvidenceKind | None = None
    """Of evidence."""
    confidence: float | None = None
    source_type: str | None = None
    source: str | None = None
    actor: str | None = None
    episode_id: str | None = None
    turn_id: str | None = None
    """The turn whose words it quotes."""


class Bite(Record):
    """What every recalled thing says of how it was found."""

    score: float
    """By which it is ranked, as the policy's `score` says."""
    parts: ScoreBreakdown
    """Their relevance is the score of a memory or a turn; that of a belief is multiplied."""
    similarity: float | None
    """Calibrated cosine to the query, at most 1; None when only words found it."""
    vector_rank: int | None
    """Among the candidates of its kind by meaning."""
    bm25: float | None
    bm25_rank: int | None
    rating: Rating | None = None
    """How much it is used, which has no part in its rank; None: never rated, a turn, or asked for
    as of another time."""


class MemoryBite(Bite):
    """One recalled memory with every part of its score."""

    kind: Literal["memory"] = "memory"
    memory: Memory
    trace: float
    """How much its history counts at the time of the read, >= 0."""
    final: float | None
    """max(similarity, 0) * (1 + k ln(1 + trace)), by which its list by meaning is ranked."""
    reasons: tuple[Reason, ...] = ()
    """The newest of what said it, newest first, three at most."""

    @property
    def id(self) -> str:
        """Of the memory."""
        return self.memory.id

    @property
    def text(self) -> str:
        """What it says."""
        return self.memory.content


class OtherValue(Record):
    """Another value of the ONE slot that a recalled belief is a value of."""

    belief_id: str
    object: str
    belief: float
    status: str
    last_at: Instant
    """When it was last affirmed."""


class BeliefBite(Bite):
    """One recalled belief with every part of its score."""

    kind: Literal["belief"] = "belief"
    belief: Belief
    last_at: Instant | None
    """When it was last affirmed."""
    ambiguous: bool = False
    """One of two values too close to call."""
    lost: bool = False
    """It was superseded or archived, or another value leads its slot; shown only when asked for."""
    head_ids: tuple[str, ...] = ()
    """Of what has lost: the beliefs that stand in its place."""
    others: tuple[OtherValue, ...] = ()
    """What else its ONE slot held, newest first."""
    found_by: str | None = None
    """The belief that fitted the question and has lost to this one; None: itself."""
    reasons: tuple[Reason, ...] = ()
    """The newest of its evidence, newest first, three at most."""

    def came_after(self, other: OtherValue) -> bool:
        """Return whether the other value was said no later, so that it is what was believed.

        What was said later and does not lead was outweighed, and never was believed.
        """
        return self.last_at is not None and other.last_at <= self.last_at

    @property
    def id(self) -> str:
        """Of the belief."""
        return self.belief.id

    @property
    def text(self) -> str:
        """What it says."""
        return self.belief.statement

    @property
    def revise_due(self) -> bool:
        """Its test has demoted it: it keeps its wording until somebody calls `revise`."""
        return self.belief.verdict.revise_due


class TurnBite(Bite):
    """One recalled turn with every part of its score."""

    kind: Literal["turn"] = "turn"
    turn: Turn

    @property
    def id(self) -> str:
        """Of the turn."""
        return self.turn.id

    @property
    def text(self) -> str:
        """What was said."""
        return self.turn.text


AnyBite = MemoryBite | BeliefBite | TurnBite


class Recollection(Record):
    """What recall found, best first, and what it held back."""

    bites: tuple[AnyBite, ...]
    hidden: dict[str, int] = Field(default_factory=dict)
    """When nothing was found: how many memories are held back, by status."""
    provisional: bool = False
    """Read at a `known` so recent that a write under way may still be recorded before it."""

    @property
    def reason(self) -> str:
        """Why there is nothing, in words; empty when there is something."""
        if self.bites:
            return ""
        if not self.hidden:
            return "nothing visible to this handle matches"
        return ", ".join(f"{n} hidden: {status}" for status, n in sorted(self.hidden.items()))


class Context(Record):
    """What fits a question, fenced as data, within a number of tokens."""

    text: str
    """The block, ready for a prompt; empty when there is nothing to show."""
    ids: tuple[str, ...]
    """What is in the text, in its order: what an answer may cite."""
    tokens: int
    """Of the text, by an estimate that sides with too many."""
    left_out: int
    """How many recalled bites did not fit, or were only inferred and are not used."""
    reason: str = ""
    """Why there is nothing, in words; empty when there is something."""
    provisional: bool = False
    """Read at a `known` so recent that a write under way may still be recorded before it."""
