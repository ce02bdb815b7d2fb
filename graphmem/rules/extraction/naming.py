"""By which names entities and predicates are known."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graphmem.rules.claims import folded

_APART = re.compile(r"[\W_]+")


def canonical(name: str, names: Mapping[str, str]) -> str:
    """Return the name by which an entity is known.

    The one place where extraction resolves the name of a subject or an object.

    Args:
        name: as it was said.
        names: canonical names by folded ones; what is not among them is its own.
    """
    return names.get(folded(name), name.strip())


def name_variants(name: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return every way in which an entity may have been named, the given one first."""
    known = canonical(name, names)
    others = (alias for alias, to in names.items() if folded(to) == folded(known))
    return tuple(dict.fromkeys((name, known, *others)))


def shape(predicate: str) -> str:
    """Return what is alike in `lives in`, `Lives-in` and `lives_in`."""
    return _APART.sub("_", folded(predicate)).strip("_")


def known_predicate(name: str, known: Mapping[str, str]) -> str:
    """Return a predicate as it is known, else in small letters joined by underscores.

    Args:
        name: as an extractor writes it.
        known: predicates by their shapes.
    """
    shaped = shape(name)
    return known.get(shaped, shaped or name)
