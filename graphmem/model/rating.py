"""Ratings of items by their use."""

from __future__ import annotations

from enum import StrEnum

from graphmem.model.terms import Instant, Record


class Tier(StrEnum):
    """Usage tier by decayed rating; an unrated item has none."""

    HIGH = "HIGH"
    """1600 or more."""
    MEDIUM = "MEDIUM"
    """1200, the initial rating, to below 1600."""
    LOW = "LOW"
    """800, the floor of the decay, to below 1200."""
    VERY_LOW = "VERY_LOW"
    """Below 800."""


class Rating(Record):
    """Rating of an item at the time of a read."""

    elo: float
    """Rating, decayed towards 800 since `touched_at`."""
    tier: Tier
    games: int
    """Number of result pairs that the item was rated in, >= 1."""
    touched_at: Instant
    """Time when the item was last opened, or else last returned with a result that was."""


class QualityStats(Record):
    """Ratings of a list of results; they have no influence on its ranking."""

    results: int
    rated: int
    tiers: dict[Tier, int]
    mean_elo: float | None
    """Mean over the rated results; None if none is rated."""
    high_in_top_five: float | None
    """Share of HIGH items among the first five results; None without results."""
