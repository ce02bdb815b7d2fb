"""Vitality, ratings and tiers of memories."""

from __future__ import annotations

from enum import StrEnum

from graphmem.model.terms import Instant, Record


class Vitality(Record):
    """Vitality of a belief, computed from its events as of two times; see docs/beliefs.md."""

    retrieval: float
    """R, the retrievability, in [0, 1]; it decays until the belief is accessed or supported."""
    stability_days: float
    """S, 1 to 365: the time constant of the decay of R at ordinary importance."""
    storage: int
    """Number of pieces of evidence counted, for and against it."""
    last_access_at: Instant | None
    """Time of its last access in the reader's scopes; None if never accessed."""
    mean: float
    """Mean of the initial confidence and all evidence, weighted by precision, in [0, 1]."""
    precision: float
    """Precision of the mean, >= 1: the sum of all weights."""
    gate: float
    """Prediction error that a contradiction must exceed to flag the belief, in [0.1, 0.9]."""
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
    """Status of the belief afterwards: current, superseded or archived."""
    flagged: bool
    """Whether it is flagged for revision afterwards."""
    repeated: bool = False
    """Whether this event id had been recorded before."""


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
