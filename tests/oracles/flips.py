"""The fewest events without which a sequential test ends otherwise: oracle of cypher/belief/."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from operator import attrgetter

from graphmem.model.belief import VerdictStatus
from graphmem.rules.formulas import STANDARD_TEST, TOLERANCE, Evidence, SprtParameters
from tests.oracles import sequential
from tests.oracles.sequential import llr

_START = -1
_SIDES = {
    VerdictStatus.PROMOTED: (1,),
    VerdictStatus.DEMOTED: (-1,),
    VerdictStatus.ACCUMULATING: (1, -1),
}
"""Which way what is removed pushes: +1 supports, -1 refutes."""


def flip_set(
    evidence: Iterable[Evidence], bounds: SprtParameters = STANDARD_TEST
) -> tuple[str, ...] | None:
    """Return a smallest set of events without which the verdict has another status.

    The status is that of the boundary reached last. A promoted belief loses it when, from the
    start or from an instant at which the lower boundary is reached, the log ratio stays below the
    upper one; only removing what pushes up helps. A demoted belief is its mirror image; one that
    is accumulating has to reach either boundary.

    Args:
        evidence: of one claim, as much as is visible, in any order; none is pooled.
        bounds: of the test.

    Returns:
        ids in order of (at, id); None when no removal does it.
    """
    once = {e.id: e for e in evidence}.values()
    # The initial confidence has no say in the status.
    status = sequential.test(once, 0.5, bounds).status
    decided = status is not VerdictStatus.ACCUMULATING
    ways = [_fewest(once, side, bounds, decided=decided) for side in _SIDES[status]]
    fewest = min((way for way in ways if way is not None), key=len, default=None)
    if fewest is None:
        return None
    return tuple(e.id for e in sorted(fewest, key=attrgetter("at", "id")))


def _fewest(
    evidence: Collection[Evidence], side: int, bounds: SprtParameters, *, decided: bool
) -> list[Evidence] | None:
    """Return the fewest events to remove of those that push to `side`, or None.

    Seen from there, `side` is up. For each instant from which the ratio could stay below the upper
    boundary the fewest are found by `_removed`. An instant is worth trying only where the ratio is
    lower than at all later ones: from a later one that is not higher, less has to hold.
    """
    # Of one instant, what pushes down comes first: on the way the ratio is never above its end.
    events = sorted(evidence, key=lambda e: (e.at, side * llr(e) > 0, e.id))
    by = [side * llr(e) for e in events]
    low, high = sorted((side * bounds.lower, side * bounds.upper))
    best: list[int] | None = None
    for since in [*([_START] if decided else []), *_low_points(events, by)]:
        removed = _removed(by, since, low + TOLERANCE, high - TOLERANCE)
        if removed is not None and (best is None or len(removed) < len(best)):
            best = removed
    return None if best is None else [events[place] for place in best]


def _low_points(events: Sequence[Evidence], by: Sequence[float]) -> list[int]:
    """Return where the ratio after an instant is lower than after all later ones, in order."""
    sums = list(accumulate(by))
    least, points = math.inf, list[int]()
    for place in reversed(range(len(events))):
        ends = place + 1 == len(events) or events[place].at < events[place + 1].at
        if ends and sums[place] < least:
            least = sums[place]
            points.append(place)
    return points[::-1]


def _removed(by: Sequence[float], since: int, low: float, high: float) -> list[int] | None:
    """Return the fewest places to remove so that the ratio is low at `since`, never high after.

    Each bound is one on what has been removed so far, and what is removed once counts for all
    later bounds. So it is best to remove nothing before a bound is broken and then, of all so far,
    what pushes most.
    """
    ratio = 0.0
    pushing: list[tuple[float, int]] = []
    removed: list[int] = []
    for place, push in enumerate(by):
        ratio += push
        if push > 0:
            heappush(pushing, (-push, place))
        while place >= since and (ratio > low if place == since else ratio >= high):
            if not pushing:
                return None
            less, most = heappop(pushing)
            ratio += less
            removed.append(most)
    return removed
