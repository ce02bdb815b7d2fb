"""Retracted events, by the newest event of each tree of retractions: an oracle of cypher/."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Retract:
    """An event that retracts another one, which may be missing or a retraction itself."""

    id: str
    target: str
    at: datetime
    """When the event happened."""
    recorded_at: datetime
    """When the event became known."""


def retracted(retractions: Iterable[Retract], known: datetime | None = None) -> frozenset[str]:
    """Return the ids of the retracted events, for every valid time.

    All retractions that lead to an event, directly or through other retractions, apply to it. The
    newest by (at, id) decides: at odd depth it retracts, at even depth it restores.

    Args:
        retractions: Retractions in any order, possibly repeated.
        known: Known time; retractions recorded later are ignored. None includes all.
    """
    seen = {r.id: r for r in retractions if known is None or r.recorded_at <= known}
    newest: dict[str, tuple[datetime, str, int]] = {}
    for r in seen.values():
        step: Retract | None = r
        path: set[str] = set()
        # Each retraction of a cycle is followed once.
        while step is not None and step.id not in path:
            path.add(step.id)
            entry = (r.at, r.id, len(path))
            newest[step.target] = max(newest.get(step.target, entry), entry)
            step = seen.get(step.target)
    return frozenset(target for target, (_, _, depth) in newest.items() if depth % 2)
