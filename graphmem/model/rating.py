"""How much items are used, as the search log says. Ratings annotate and never rank."""

from __future__ import annotations

from enum import StrEnum

from graphmem.model.terms import Instant, Record


class Tier(StrEnum):
    """How much an item is used, by its faded rating; what was never rated has none."""

    HIGH = "HIGH"
    """1600 or more."""
    MEDIUM = "MEDIUM"
    """From 1200, where a rating begins, to below 1600."""
    LOW = "LOW"
    """From 800, where fading ends, to below 1200."""
    VERY_LOW = "VERY_LOW"
    """Below 800."""


class Rating(Record):
    """The rating of an item at the time of a read."""

    elo: float
    """Faded towards 800 since it was touched."""
    tier: Tier
    games: int
    """Pairs of results it was one of, >= 1."""
    touched_at: Instant
    """When it was last opened, or else first returned beside one that was."""


class RatedItem(Record):
    """An item and its rating."""

    kind: str
    """Memory, Belief, Episode or Artifact."""
    id: str
    scope: str
    text: str | None
    """What it says, or how it is called; None: it is no longer there."""
    rating: Rating


class RatingReport(Record):
    """What rating the log has done."""

    sessions: int
    """That had ended."""
    abandoned: int
    """Of these, sessions that nobody ended and that nothing was logged in for a day."""
    searches: int
    """Of which some results were opened and others were not."""
    updates: int
    """Ratings that changed."""


class RatingUpdate(Record):
    """What the games of one search made of one rating."""

    search_id: str
    at: Instant
    kind: str
    id: str
    text: str | None
    before: float
    after: float


class UsageCount(Record):
    """One thing that was logged."""

    id: str
    """Of the event."""
    at: Instant
    scope: str
    session_id: str | None
    """None: outside any session."""
    tool: str | None
    """Of a search; None: a look at one item."""
    query: str | None
    items: tuple[tuple[str, str, str | None], ...]
    """Kind, id and text of what was looked at, or of the three best results."""


class UsageDashboard(Record):
    """What a memory is really used for."""

    top: tuple[RatedItem, ...]
    """Highest rating first."""
    tiers: dict[Tier, int]
    """How many items are in each."""
    histogram: tuple[tuple[float, int], ...]
    """Where a step of 50 points begins, and the items in it; steps without items are left out."""
    activity: tuple[UsageCount, ...]
    """Newest first."""
    updates: tuple[RatingUpdate, ...]
    """Newest first."""


class QualityStats(Record):
    """What ratings say of a list of results; they had no part in ranking it."""

    results: int
    rated: int
    tiers: dict[Tier, int]
    mean_elo: float | None
    """Of those rated; None: none is."""
    high_in_top_five: float | None
    """Share of the first five results that are HIGH; None: no results."""
