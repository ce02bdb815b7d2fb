"""Items under namespaces: their ids, their values as JSON, and filters."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphmem.errors import InvalidInputError
from graphmem.items.records import NamespaceMatch
from graphmem.rules import identity

MAX_PATH_CHARS = 1_000
"""Maximum length of a path in characters; Neo4j rejects index keys longer than about 8 kB."""
MAX_VALUE_CHARS = 4_000_000
"""Maximum length of a value as JSON, in characters."""
_ORDERS: Mapping[str, Callable[[float, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = frozenset({"$eq", "$ne", *_ORDERS})
_SCALARS = (str, int, float)
_LAST = "/"
"""Character after the separator "."."""
_AFTER_ALL = "\U0010ffff" * MAX_PATH_CHARS
"""Sorts after every path: the last character of one is a dot."""

MAX_LEVELS = 100
"""Maximum depth of nested maps and lists. JSON is read and written recursively, and the caller's
stack may be nearly full, so values are rejected long before the limit of Python."""


def namespace_path(labels: Iterable[str]) -> str:
    """Return labels as one string, each followed by a dot, which labels cannot contain."""
    return "".join(f"{label}." for label in labels)


def path_bounds(prefix: str) -> tuple[str, str]:
    """Return the bounds of all paths with a prefix: the prefix, and the first path after them."""
    return prefix, prefix[:-1] + _LAST if prefix else _AFTER_ALL


def namespace_id(scope: str, labels: Iterable[str]) -> str:
    """Return the id of a namespace of a scope; unique in a tenant."""
    return "ns_" + identity.digest(scope, namespace_path(labels))[:32]


def item_id(scope: str, labels: Iterable[str], key: str) -> str:
    """Return the id of an item of a scope; unique in a tenant."""
    return "it_" + identity.digest(scope, namespace_path(labels), key)[:32]


def namespace_row(scope: str, labels: Sequence[str], place: int) -> dict[str, Any]:
    """Return the row that creates a namespace; see item/lock_namespaces."""
    path = namespace_path(labels)
    if len(path) > MAX_PATH_CHARS:
        raise InvalidInputError(
            f"namespace: its labels must have at most {MAX_PATH_CHARS:,} characters together."
        )
    return {
        "id": namespace_id(scope, labels),
        "parts": list(labels),
        "path": path,
        "reversed": namespace_path(reversed(labels)),
        "place": place,
    }


def encode_value(value: object) -> str:
    """Return a value as JSON, with its keys in their original order."""
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"value must be a mapping, not {type(value).__name__}.")
    _check_depth("value", value)
    try:
        text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInputError("value must not contain invalid Unicode.") from None
    except (TypeError, ValueError):
        raise InvalidInputError(
            "value must be valid JSON.",
            hint="Use mappings with string keys, lists, strings, finite numbers, True, False and "
            "None.",
        ) from None
    _check_keys(value)
    if len(text) > MAX_VALUE_CHARS:
        raise InvalidInputError(
            f"value must have at most {MAX_VALUE_CHARS:,} characters as JSON.",
            hint="Store it in a file, and its path here.",
        )
    return text


def _check_depth(name: str, value: object) -> None:
    if is_too_deep(value):
        raise InvalidInputError(
            f"{name} must be nested at most {MAX_LEVELS} levels deep.",
            hint="Store parts of it under keys of their own.",
        )


def _check_keys(value: object) -> None:
    # json.dumps converts numbers to strings.
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping) and not all(isinstance(key, str) for key in part):
            raise InvalidInputError("value must only contain mappings with string keys.")
        waiting.extend(_parts(part))


def decode_value(text: str) -> dict[str, Any]:
    """Return the value of a text made by `encode_value`."""
    value: dict[str, Any] = json.loads(text)
    return value


def value_tokens(value: Mapping[str, Any]) -> list[str]:
    """Return a token for each field of a value that a filter can compare for equality."""
    return sorted(
        {
            _field_token(key, field_value)
            for key, field_value in value.items()
            if isinstance(field_value, _SCALARS)
        }
    )


def _field_token(field: str, value: str | float) -> str:
    """Return the same token for values that Python considers equal, such as True, 1 and 1.0."""
    if isinstance(value, str):
        text = f"s{value}"
    elif isinstance(value, int) or value.is_integer():
        text = f"n{int(value):x}"
    else:
        text = f"n{value!r}"
    return identity.digest(field, text)[:16]


def filter_tokens(filter_: Mapping[str, Any] | None) -> list[str]:
    """Return the tokens that every matching item has; `matches_filter` applies the whole filter."""
    tokens = []
    for field, value in (filter_ or {}).items():
        equal = value.get("$eq") if isinstance(value, Mapping) else value
        if isinstance(equal, _SCALARS):
            tokens.append(_field_token(field, equal))
    return tokens


def check_filter(filter_: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a filter if it can be applied to any value."""
    _check_depth("filter", filter_)
    waiting: list[Any] = list((filter_ or {}).values())
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping) and _is_compared(part):
            for name, operand in part.items():
                _check(name, operand)
        else:
            waiting.extend(_parts(part))
    return filter_


def _check(name: object, operand: object) -> None:
    if name not in _OPERATORS:
        raise InvalidInputError(
            "filter: unknown operator.",
            hint=f"Use one of {', '.join(sorted(_OPERATORS))}; to match a mapping with other keys "
            "that start with $, give it as the value of $eq.",
        )
    if name in _ORDERS and _number(operand) is None:
        raise InvalidInputError(f"filter: {name} must be compared with a number.")


def _is_compared(condition: Mapping[Any, Any]) -> bool:
    return any(isinstance(key, str) and key.startswith("$") for key in condition)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def matches_filter(value: Mapping[str, Any], filter_: Mapping[str, Any] | None) -> bool:
    """Return whether a value matches a filter that passed `check_filter`.

    A missing field counts as None. Order comparisons are false for values that are not numbers.
    """
    return all(
        _matches(value.get(field), condition) for field, condition in (filter_ or {}).items()
    )


def _matches(value: Any, condition: Any) -> bool:
    if isinstance(condition, Mapping):
        if _is_compared(condition):
            return all(_compare(value, name, operand) for name, operand in condition.items())
        return isinstance(value, Mapping) and matches_filter(value, condition)
    if isinstance(condition, list | tuple):
        return (
            isinstance(value, list)
            and len(value) == len(condition)
            and all(map(_matches, value, condition))
        )
    return bool(value == condition)


def _compare(value: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return bool(value == operand)
    if name == "$ne":
        return bool(value != operand)
    left, right = _number(value), _number(operand)
    return left is not None and right is not None and _ORDERS[name](left, right)


def index_lookup(fits: Sequence[NamespaceMatch]) -> tuple[str, str]:
    """Return the end by which to look up namespaces in the index, and the labels to search there.

    The longest run of labels without a wildcard is used.
    """
    ends = [("prefix", "")]
    for fit in fits:
        labels = fit.path if fit.end == "prefix" else fit.path[::-1]
        plain = labels[: labels.index("*")] if "*" in labels else labels
        ends.append((fit.end, namespace_path(plain)))
    return max(ends, key=lambda prefix: len(prefix[1]))


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
