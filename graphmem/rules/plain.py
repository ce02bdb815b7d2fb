"""Results as JSON types, the same on every surface."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python


def plain(data: object) -> Any:
    """Return data as JSON types: records as mappings, timestamps in ISO 8601.

    A mapping also has the values that a record derives from its fields, such as `revise_due`.
    """
    return _with_derived(to_jsonable_python(data), data)


def _with_derived(shown: Any, data: Any) -> Any:
    """Return the JSON form of data with the derived values of all records in it."""
    if isinstance(shown, list):
        return [_with_derived(*pair) for pair in zip(shown, data, strict=True)]
    if not isinstance(shown, dict):
        return shown
    if isinstance(data, Mapping):
        pairs = zip(shown.items(), data.values(), strict=True)
        return {key: _with_derived(value, of) for (key, value), of in pairs}
    made = {key: _with_derived(value, getattr(data, key, None)) for key, value in shown.items()}
    if isinstance(data, BaseModel):
        made |= {name: plain(getattr(data, name)) for name in derived(type(data))}
    return made


@cache
def derived(record: type[BaseModel]) -> tuple[str, ...]:
    """Return the names of the public properties that a record adds to its fields."""
    own = [
        name for kind in record.__mro__ if not issubclass(BaseModel, kind) for name in vars(kind)
    ]
    return tuple(
        name
        for name in dict.fromkeys(own)
        if isinstance(getattr(record, name, None), property) and not name.startswith("_")
    )
