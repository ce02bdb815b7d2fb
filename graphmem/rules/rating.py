"""Ratings of memories: parameters, tiers and statistics."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean

from graphmem.model import AnyBite, QualityStats, Recollection, Tier
from graphmem.settings import Settings

_TIERS = (Tier.VERY_LOW, Tier.LOW, Tier.MEDIUM, Tier.HIGH)

TOP = 5


@dataclass(frozen=True)
class Rating:
    """Constants of the rating; the defaults are those of Vector ELO, and a game is a pair."""

    initial: float = 1200.0
    """Rating before the first game."""
    floor: float = 800.0
    """Lower bound of decay; lost games can lead below it."""
    k_new: float = 16.0
    k_established: float = 8.0
    established: int = 10
    """Number of games from which an item is established; each pair of results is one game."""
    scale: float = 400.0
    """Rating difference that makes winning ten times as likely as losing."""
    fading_days: float = 30.0
    """Time constant of decay, in days; half is lost after 20.8 days."""
    gate_similarity: float = 0.3
    """Calibrated similarity up to which an opened result gains only a part."""
    gate_factor: float = 0.25
    high: float = 1600.0
    medium: float = 1200.0
    low: float = 800.0
    by_search: bool = False
    """Whether a search is one game: its change is divided by the larger side, so that a wide search
    counts no more than a narrow one. Otherwise each pair of results is a game."""


SOURCE = Rating()
BY_SEARCH = Rating(by_search=True, k_new=96.0, k_established=48.0, high=1300.0, fading_days=180.0)
"""One search gives less than 96 points, so it makes no new item HIGH."""
RULES = {"source": SOURCE, "search": BY_SEARCH}
STANDARD = SOURCE


def from_settings(settings: Settings) -> Rating:
    """Return the configured constants: those of the named rule, with single ones replaced."""
    changed = settings.rating.model_dump(exclude={"rule"}, exclude_none=True)
    return replace(RULES[settings.rating.rule], **changed)


def decay_params(by: Rating) -> dict[str, float]:
    """Return the constants of decay as query parameters."""
    return {"floor": by.floor, "days": by.fading_days}


def tier_bounds(of: Tier | None, by: Rating = STANDARD) -> tuple[float, float]:
    """Return the lowest rating of a tier, and the upper bound; None spans all tiers."""
    steps = [-math.inf, by.low, by.medium, by.high, math.inf]
    n = 0 if of is None else _TIERS.index(of)
    return steps[n], steps[-1 if of is None else n + 1]


def tier(elo: float, by: Rating = STANDARD) -> Tier:
    """Return the tier of a rating, decayed if applicable; each tier includes its lower bound."""
    return _TIERS[bisect((by.low, by.medium, by.high), elo)]


def quality_stats(results: Recollection | Iterable[AnyBite]) -> QualityStats:
    """Return how many results are used often, for benchmarks and dashboards.

    Args:
        results: results of `recall`, best first.
    """
    bites = list(results.bites if isinstance(results, Recollection) else results)
    ratings = [bite.rating for bite in bites if bite.rating is not None]
    tiers = dict.fromkeys(Tier, 0)
    for rating in ratings:
        tiers[rating.tier] += 1
    top = [bite.rating for bite in bites[:TOP]]
    high = sum(rating is not None and rating.tier is Tier.HIGH for rating in top)
    return QualityStats(
        results=len(bites),
        rated=len(ratings),
        tiers=tiers,
        mean_elo=fmean(rating.elo for rating in ratings) if ratings else None,
        high_in_top_five=high / len(top) if top else None,
    )
