"""Evidence as the projections and the sequential test see it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Evidence:
    """One event for or against a claim, as the projections see it."""

    id: str
    claim: str
    polarity: int
    """+1 or -1."""
    confidence: float
    """In [0, 1]."""
    weight: float
    """Of its source, in (0, 1]."""
    episode: str | None
    """None: an episode of its own."""
    at: datetime
    """When it happened."""
    strength: float | None = None
    """What it says in the sequential test, where that was given; see `rules.sequential`."""
