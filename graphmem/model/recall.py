"""What recall gives back."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from graphmem.model.conversation import Turn
from graphmem.model.memory import Memory
from graphmem.model.terms import Record


class MemoryBite(Record):
    """One recalled memory with every part of its score."""

    kind: Literal["memory"] = "memory"
    memory: Memory
    score: float
    """Sum of weight / (k + rank) over the lists that hold it."""
    similarity: float | None
    """Calibrated cosine to the query, at most 1; None when only words found it."""
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
