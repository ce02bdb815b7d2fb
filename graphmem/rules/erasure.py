"""What is kept of what was erased, and how mentions of it are taken out of what stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from graphmem.rules import identity

ERASED = "erased"
"""Stands for an id in what stays."""
_NAMING = frozenset({"about", "newer", "older"})
"""Fields that hold ids, beside those whose names end so."""
_TOLD = ("note", "reason", "text")
"""Fields of a payload that are about what it names."""


def key(tenant: str, item_id: str) -> str:
    """Return the digest by which a memory, belief, episode or event of a tenant stays refused."""
    return identity.digest("erased", tenant, item_id)


def scope_key(tenant: str, scope: str) -> str:
    """Return the digest by which a scope stays refused."""
    return identity.digest("erased scope", tenant, scope)


def tenant_key(tenant: str) -> str:
    """Return the digest by which a tenant stays refused."""
    return identity.digest("erased tenant", tenant)


def ids(value: Any, *, named: bool = False) -> Iterator[str]:
    """Yield every id in what a query is given: the texts in fields that hold ids, all through.

    Args:
        value: the query's parameters, or a part of them.
        named: whether the value itself stands in such a field.
    """
    if isinstance(value, str):
        if named:
            yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if isinstance(part, str | dict | list | tuple):
                yield from ids(part, named=name.endswith(("id", "ids")) or name in _NAMING)
    elif isinstance(value, list | tuple) and value and isinstance(value[0], str | dict | list):
        for part in value:
            yield from ids(part, named=named)


def scopes(value: Any) -> Iterator[str]:
    """Yield every scope that a query is given to write to, all through."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name == "scope" and isinstance(part, str):
                yield part
            elif isinstance(part, dict | list | tuple):
                yield from scopes(part)
    elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        for part in value:
            yield from scopes(part)


def names(payload: str | None, gone: frozenset[str]) -> bool:
    """Return whether JSON names something of what is gone."""
    return payload is not None and not gone.isdisjoint(_texts(json.loads(payload)))


def without(payload: str, gone: frozenset[str]) -> str:
    """Return a payload that names nothing of what is gone, and tells nothing more about it."""
    found = json.loads(payload)
    kept = {name: value for name, value in found.items() if name not in _TOLD}
    return json.dumps(_replaced(kept, gone), ensure_ascii=False)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _replaced(value: Any, gone: frozenset[str]) -> Any:
    if isinstance(value, str):
        return ERASED if value in gone else value
    if isinstance(value, dict):
        return {name: _replaced(part, gone) for name, part in value.items()}
    if isinstance(value, list):
        return [_replaced(part, gone) for part in value]
    return value
