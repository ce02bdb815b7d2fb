"""How deeply values from outside may be nested: a fixed number of levels, whoever calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

MOST_LEVELS = 100
"""Maps and lists inside one another. JSON is read and written with a stack that a caller may have
used up almost to its end, so a value is refused long before that."""


def is_too_deep(value: object) -> bool:
    """Return whether a value has more than `MOST_LEVELS` maps and lists inside one another.

    Each map or list is looked at once a level, so shared ones cost no more than others.
    """
    level = [value]
    for _ in range(MOST_LEVELS + 1):
        level = list({id(part): part for outer in level for part in _parts(outer)}.values())
        if not level:
            return False
    return True


def _parts(value: object) -> Iterator[object]:
    """Yield what a map or a list holds; a value that is neither is its own last level."""
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value
