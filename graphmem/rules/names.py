"""By which names somebody is known, oracle of cypher/, and what may not be said of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from graphmem.errors import InvalidInputError, NameChainError
from graphmem.rules.claims import folded


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


def check(name: tuple[str, str], other: tuple[str, str], stands: Mapping[str, str]) -> None:
    """Refuse what would make a chain of names.

    Args:
        name: what shall stand for the other, folded and as written.
        other: likewise.
        stands: what stands for what by now: canonical names as written, by folded others.

    Raises:
        InvalidInputError: the two are one name.
        NameChainError: a name would stand for one that itself stands for another.
    """
    (key, written), (other_key, other_written) = name, other
    if key == other_key:
        raise InvalidInputError(
            f"{written!r} stands for itself already.", hint="To undo a name, call `apart`."
        )
    if (further := stands.get(other_key)) is not None:
        raise NameChainError(
            f"{other_written!r} stands for {further!r} itself.", hint=f"Name {further!r} instead."
        )
    leaning = [one for one, to in stands.items() if folded(to) == key]
    if leaning:
        raise NameChainError(
            f"{len(leaning)} other names stand for {written!r}, as {leaning[0]!r} does.",
            hint=f"Let each of them stand for {other_written!r} first.",
        )
