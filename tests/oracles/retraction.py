"""Which events are cancelled: the newest word of each tree of retractions, oracle of cypher/."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Retract:
    """An event that cancels another, maybe one that has not arrived, or itself a retraction."""

    id: str
    target: str
    at: datetime
    """When it happened."""
    recorded_at: datetime
    """When it became known."""


def retracted(retractions: Iterable[Retract], known: datetime | None = None) -> frozenset[str]:
    """Return the ids of the events that are cancelled, for every valid time.

    All retractions that lead to an event, directly or by way of one another, speak of it; the
    newest by (at, id) decides: at odd depth it cancels, at even depth it brings back.

    Args:
        retractions: in any order, each maybe several times.
        known: what was recorded later is as if it had not been written; None sees all.
    """
    seen = {r.id: r for r in retractions if known is None or r.recorded_at <= known}
    newest: dict[str, tuple[datetime, str, int]] = {}
    for r in seen.values():
        step: Retract | None = r
        path: set[str] = set()
        # Retractions that cancel one another in a ring are each followed once.
        while step is not None and step.id not in path:
            path.add(step.id)
            word = (r.at, r.id, len(path))
            newest[step.target] = max(newest.get(step.target, word), word)
            step = seen.get(step.target)
    return frozenset(target for target, (_, _, depth) in newest.items() if depth % 2)
