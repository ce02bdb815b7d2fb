"""Alias resolution: the oracle of the fragments `called` and `names`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Naming:
    """One event that declares an alias; names are folded."""

    id: str
    key: str
    same_as: str | None
    """Canonical name; None if the name refers to itself again."""
    at: datetime
    """When the event happened."""
    recorded_at: datetime
    """When the event became known."""


def canonical(key: str, namings: Iterable[Naming], known: datetime | None = None) -> str:
    """Return the canonical name, which the newest event by (at, id) defines for every valid time.

    Args:
        key: The name.
        namings: Events about any names, in any order, possibly repeated.
        known: Known time; events recorded later are ignored. None includes all.
    """
    seen = [n for n in namings if n.key == key and (known is None or n.recorded_at <= known)]
    newest = max(seen, key=lambda n: (n.at, n.id), default=None)
    return (newest.same_as if newest else None) or key


def ways(key: str, namings: Iterable[Naming], known: datetime | None = None) -> tuple[str, ...]:
    """Return all names of the same entity: the given one, the canonical one, the others.

    An alias leads to its canonical name in one step: `check` prevents chains.
    """
    namings = tuple(namings)
    target = canonical(key, namings, known)
    others = {n.key for n in namings if canonical(n.key, namings, known) == target}
    return tuple(dict.fromkeys((key, target, *sorted(others - {target}))))
