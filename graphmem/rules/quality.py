"""What ratings say of a list of results, beside its ranking and never in it."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from graphmem.model import AnyBite, QualityStats, Recollection, Tier

TOP = 5


def quality_stats(results: Recollection | Iterable[AnyBite]) -> QualityStats:
    """Return how much of what was recalled is used much; for benchmarks and dashboards.

    Args:
        results: of `recall`, best first.
    """
    bites = list(results.bites if isinstance(results, Recollection) else results)
    ratings = [bite.rating for bite in bites if bite.rating is not None]
    tiers = dict.fromkeys(Tier, 0)
    for one in ratings:
        tiers[one.tier] += 1
    top = [bite.rating for bite in bites[:TOP]]
    high = sum(one is not None and one.tier is Tier.HIGH for one in top)
    return QualityStats(
        results=len(bites),
        rated=len(ratings),
        tiers=tiers,
        mean_elo=fmean(one.elo for one in ratings) if ratings else None,
        high_in_top_five=high / len(top) if top else None,
    )
