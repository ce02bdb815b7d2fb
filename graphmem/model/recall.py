"""What recall gives back."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from graphmem.model.conversation import Turn
from graphmem.model.memory import Memory
from graphmem.model.terms import Instant, Record


class TraceRank(Record):
    """How much a history of being said again counts."""

    tau_days: float = Field(21.0, gt=0)
    """Time constant of recency, days."""
    spacing: float = Field(0.1, ge=0)
    """b: what a gap adds, 1 + b ln(1 + days), over a repetition at once."""
    weight: float = Field(0.35, ge=0)
    """k of final = max(similarity, 0) * (1 + k ln(1 + trace)); 0: history does not count."""


class Score(StrEnum):
    """What recall ranks by."""

    FUSED = "fused"
    """Reciprocal rank fusion of the lists by meaning and by words."""
    FLAT = "flat"
    """1 / (1 + d), d the Euclidean distance of unit vectors; meaning alone."""
    TRACE = "trace"
    """TraceRank's final; meaning and history."""


class RecallPolicy(Record):
    """How what fits a question is ranked.

    In the fusion words weigh more, since a small offline embedder must not outvote them: measured
    on LoCoMo, an equal vote found 58.5 % of the evidence among the first ten, this 59.7 %.
    """

    score: Score = Score.FUSED
    pool: int = Field(200, ge=1, le=1_000)
    """Candidates of each list."""
    k: int = Field(60, ge=1)
    """Of the fusion."""
    vector_weight: float = Field(0.4, ge=0)
    words_weight: float = Field(1.0, ge=0)
    trace: TraceRank = TraceRank()


POLICIES = {
    "default": RecallPolicy(),
    "flat": RecallPolicy(score=Score.FLAT),
    "trace": RecallPolicy(score=Score.TRACE),
}
"""By name."""


class Saying(Record):
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
    sayings: tuple[Saying, ...]
    """The newest events, oldest of them first."""
    total: int
    """How many events there are."""


class MemoryBite(Record):
    """One recalled memory with every part of its score."""

    kind: Literal["memory"] = "memory"
    memory: Memory
    score: float
    """As the policy's `score` says."""
    similarity: float | None
    """Calibrated cosine to the query, at most 1; None when only words found it."""
    trace: float
    """How much its history counts now, >= 0."""
    final: float | None
    """max(similarity, 0) * (1 + k ln(1 + trace)), by which its list by meaning is ranked."""
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
