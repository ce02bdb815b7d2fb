"""Resolution of aliases and policies: the oracle of the fragments of names and of `policy`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    scope: str = "global"
    """Scope in which the alias is declared."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One event that declares the policy of a predicate."""

    id: str
    scope: str
    by_person: bool
    at: datetime
    """When the event happened."""


def nearest(fact_in: str, reader: str, reads: Iterable[str], events: Iterable[Declared]) -> str:
    """Return the id of the declaration that applies to a fact, or '' if none does.

    Args:
        fact_in: Scope of the fact.
        reader: Write scope of the reader.
        reads: Read scopes of the reader.
        events: Declarations of the predicate, in any order, possibly repeated.
    """
    chain = [s for s in dict.fromkeys((reader, fact_in, "global")) if s in {reader, *reads}]
    ranks = {(scope, True): place for place, scope in enumerate(chain)}
    # A declaration of another class holds for facts of its scope, after those of persons.
    ranks[fact_in, False] = len(chain)
    known = [e for e in events if (e.scope, e.by_person) in ranks and e.scope in chain]
    best = min((ranks[e.scope, e.by_person] for e in known), default=None)
    same = [e for e in known if ranks[e.scope, e.by_person] == best]
    return max(((e.at, e.id) for e in same), default=(None, ""))[1]


def canonical(
    key: str,
    namings: Iterable[Naming],
    known: datetime | None = None,
    near: Sequence[str] = ("global",),
) -> str:
    """Return the canonical name, which the newest event by (at, id) defines for every valid time.

    Args:
        key: The name.
        namings: Events about any names, in any order, possibly repeated.
        known: Known time; events recorded later are ignored. None includes all.
        near: Scopes whose aliases apply, the nearest first.
    """
    about = [n for n in namings if n.key == key and (known is None or n.recorded_at <= known)]
    for scope in near:
        seen = [n for n in about if n.scope == scope]
        newest = max(seen, key=lambda n: (n.at, n.id), default=None)
        if newest is not None and newest.same_as is not None:
            return newest.same_as
    return key


def ways(
    key: str,
    namings: Iterable[Naming],
    known: datetime | None = None,
    near: Sequence[str] = ("global",),
) -> tuple[str, ...]:
    """Return all names of the same entity: the given one, the canonical one, the others.

    An alias leads to its canonical name in one step: `check` prevents chains.
    """
    namings = tuple(namings)
    target = canonical(key, namings, known, near)
    others = {n.key for n in namings if canonical(n.key, namings, known, near) == target}
    return tuple(dict.fromkeys((key, target, *sorted(others - {target}))))
