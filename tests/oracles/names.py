"""By which names something is known: the oracle of the fragments `called` and `names`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Naming:
    """One event that says what a name stands for; names are folded."""

    id: str
    key: str
    same_as: str | None
    """None: for itself again."""
    at: datetime
    """When it happened."""
    recorded_at: datetime
    """When it became known."""


def canonical(key: str, said: Iterable[Naming], known: datetime | None = None) -> str:
    """Return what a name stands for: as the newest by (at, id) says, for every valid time.

    Args:
        key: the name.
        said: of any names, in any order, each maybe several times.
        known: what was recorded later is as if it had not been said; None sees all.
    """
    seen = [one for one in said if one.key == key and (known is None or one.recorded_at <= known)]
    newest = max(seen, key=lambda one: (one.at, one.id), default=None)
    return (newest.same_as if newest else None) or key


def ways(key: str, said: Iterable[Naming], known: datetime | None = None) -> tuple[str, ...]:
    """Return all names of whom a name stands for: that one, the canonical one, the others.

    One name leads to another by one step: `check` lets no chains come about.
    """
    said = tuple(said)
    stands_for = canonical(key, said, known)
    others = {one.key for one in said if canonical(one.key, said, known) == stands_for}
    return tuple(dict.fromkeys((key, stands_for, *sorted(others - {stands_for}))))
