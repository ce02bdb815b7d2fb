"""Smallest sets of events that decide a sequential test: an oracle of cypher/belief/."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from operator import attrgetter

from graphmem.model.belief import VerdictStatus
from graphmem.model.policies import SprtParameters
from graphmem.rules.formulas import STANDARD_TEST, TOLERANCE, Evidence
from tests.oracles import sequential
from tests.oracles.sequential import llr

_START = -1
_SIDES = {
    VerdictStatus.PROMOTED: (1,),
    VerdictStatus.DEMOTED: (-1,),
    VerdictStatus.ACCUMULATING: (1, -1),
}
"""Directions in which the removed events push: +1 supports, -1 refutes."""


def flip_set(
    evidence: Iterable[Evidence], bounds: SprtParameters = STANDARD_TEST
) -> tuple[str, ...] | None:
    """Return a smallest set of events without which the verdict has another status.

    The status is that of the boundary reached last. A promoted belief loses it if, from the start
    or from a timestamp at which the lower boundary is reached, the log ratio stays below the upper
    one; only removing supporting events helps. A demoted belief is the mirror image. An
    accumulating belief has to reach either boundary.

    Args:
        evidence: Visible evidence of one claim, in any order; it is not pooled.
        bounds: Parameters of the test.

    Returns:
        Ids in order of (at, id); None if no removal changes the status.
    """
    once = {e.id: e for e in evidence}.values()
    # The initial confidence does not affect the status.
    status = sequential.test(once, 0.5, bounds).status
    decided = status is not VerdictStatus.ACCUMULATING
    sets = [_fewest(once, side, bounds, decided=decided) for side in _SIDES[status]]
    fewest = min((events for events in sets if events is not None), key=len, default=None)
    if fewest is None:
        return None
    return tuple(e.id for e in sorted(fewest, key=attrgetter("at", "id")))


def _fewest(
    evidence: Collection[Evidence], side: int, bounds: SprtParameters, *, decided: bool
) -> list[Evidence] | None:
    """Return the fewest events to remove among those that push to `side`, or None.

    Signs are flipped so that `side` is up. For each timestamp from which the ratio could stay below
    the upper boundary, `_removed` finds the fewest events. Only timestamps with a ratio lower than
    at all later ones matter: a later one that is not higher imposes fewer constraints.
    """
    # At one timestamp, events that push down come first, so the ratio never exceeds its end value.
    events = sorted(evidence, key=lambda e: (e.at, side * llr(e) > 0, e.id))
    by = [side * llr(e) for e in events]
    low, high = sorted((side * bounds.lower, side * bounds.upper))
    smallest: list[int] | None = None
    for since in [*([_START] if decided else []), *_low_points(events, by)]:
        removed = _removed(by, since, low + TOLERANCE, high - TOLERANCE)
        if removed is not None and (smallest is None or len(removed) < len(smallest)):
            smallest = removed
    return None if smallest is None else [events[place] for place in smallest]


def _low_points(events: Sequence[Evidence], by: Sequence[float]) -> list[int]:
    """Return, in order, the places where the ratio is lower than after all later timestamps."""
    sums = list(accumulate(by))
    lowest, points = math.inf, list[int]()
    for place in reversed(range(len(events))):
        ends = place + 1 == len(events) or events[place].at < events[place + 1].at
        if ends and sums[place] < lowest:
            lowest = sums[place]
            points.append(place)
    return points[::-1]


def _removed(by: Sequence[float], since: int, low: float, high: float) -> list[int] | None:
    """Return the fewest places to remove so that the ratio is low at `since` and never high after.

    Each bound limits the total removed so far, and a removal counts for all later bounds. So the
    best strategy removes nothing until a bound is broken, and then the strongest event so far.
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
            less, strongest = heappop(pushing)
            ratio += less
            removed.append(strongest)
    return removed
