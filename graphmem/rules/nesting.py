"""Maximum nesting of values from callers and files, independent of the caller's stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

MAX_LEVELS = 100
"""Maximum depth of nested maps and lists. JSON is read and written recursively, and the caller's
stack may be nearly full, so values are rejected long before the limit of Python."""


def is_too_deep(value: object) -> bool:
    """Return whether a value nests maps and lists more than `MAX_LEVELS` deep.

    Each map or list is visited once per level, so shared ones add no cost.
    """
    level = [value]
    for _ in range(MAX_LEVELS + 1):
        level = list({id(part): part for outer in level for part in _parts(outer)}.values())
        if not level:
            return False
    return True


def _parts(value: object) -> Iterator[object]:
    """Yield the elements of a map or a list; nothing for other values."""
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value
