"""Items under namespaces: their ids, their values as JSON, and filters."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from graphmem.errors import InvalidInputError
from graphmem.model import NamespaceMatch
from graphmem.rules import identity, nesting

LONGEST_PATH = 1_000
"""Maximum length of a path in characters; Neo4j rejects index keys longer than about 8 kB."""
LONGEST_VALUE = 4_000_000
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
_AFTER_ALL = "\U0010ffff"


def path(labels: Iterable[str]) -> str:
    """Return labels as one string, each followed by a dot, which labels cannot contain."""
    return "".join(f"{label}." for label in labels)


def span(prefix: str) -> tuple[str, str]:
    """Return the bounds of all paths with a prefix: the prefix, and the first path after them."""
    return prefix, prefix[:-1] + _LAST if prefix else _AFTER_ALL


def namespace_id(scope: str, labels: Iterable[str]) -> str:
    """Return the id of a namespace of a scope; unique in a tenant."""
    return "ns_" + identity.digest(scope, path(labels))[:32]


def item_id(scope: str, labels: Iterable[str], key: str) -> str:
    """Return the id of an item of a scope; unique in a tenant."""
    return "it_" + identity.digest(scope, path(labels), key)[:32]


def namespace_row(scope: str, labels: Sequence[str], place: int) -> dict[str, Any]:
    """Return the row that creates a namespace; see item/lock_namespaces.

    Raises:
        InvalidInputError: its labels are too long together.
    """
    whole = path(labels)
    if len(whole) > LONGEST_PATH:
        raise InvalidInputError(
            f"namespace: its labels must have at most {LONGEST_PATH:,} characters together."
        )
    return {
        "id": namespace_id(scope, labels),
        "parts": list(labels),
        "path": whole,
        "reversed": path(reversed(labels)),
        "place": place,
    }


def encoded(value: object) -> str:
    """Return a value as JSON, with its keys in their original order.

    Raises:
        InvalidInputError: JSON cannot represent it, or it is too long or nested too deeply.
    """
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
    if len(text) > LONGEST_VALUE:
        raise InvalidInputError(
            f"value must have at most {LONGEST_VALUE:,} characters as JSON.",
            hint="Store it in a file, and its path here.",
        )
    return text


def _check_depth(name: str, value: object) -> None:
    if nesting.is_too_deep(value):
        raise InvalidInputError(
            f"{name} must be nested at most {nesting.MOST_LEVELS} levels deep.",
            hint="Store parts of it under keys of their own.",
        )


def _check_keys(value: object) -> None:
    # json.dumps converts numbers to strings.
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            if not all(isinstance(key, str) for key in one):
                raise InvalidInputError("value must only contain mappings with string keys.")
            waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            waiting.extend(one)


def decoded(text: str) -> dict[str, Any]:
    """Return the value of a text made by `encoded`."""
    value: dict[str, Any] = json.loads(text)
    return value


def facets(value: Mapping[str, Any]) -> list[str]:
    """Return a token for each field of a value that a filter can compare for equality."""
    return sorted({_facet(key, one) for key, one in value.items() if isinstance(one, _SCALARS)})


def _facet(field: str, value: str | float) -> str:
    """Return the same token for values that Python considers equal, such as True, 1 and 1.0."""
    if isinstance(value, str):
        shown = f"s{value}"
    elif isinstance(value, int) or value.is_integer():
        shown = f"n{int(value):x}"
    else:
        shown = f"n{value!r}"
    return identity.digest(field, shown)[:16]


def asked(wanted: Mapping[str, Any] | None) -> list[str]:
    """Return the tokens that every matching item has; `fits` applies the whole filter."""
    found = []
    for field, value in (wanted or {}).items():
        equal = value.get("$eq") if isinstance(value, Mapping) else value
        if isinstance(equal, _SCALARS):
            found.append(_facet(field, equal))
    return found


def checked(wanted: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a filter if it can be applied to any value.

    Raises:
        InvalidInputError: an operator is unknown, an order comparison is not with a number, or the
            filter is nested too deeply.
    """
    _check_depth("filter", wanted)
    waiting: list[Any] = list((wanted or {}).values())
    while waiting:
        one = waiting.pop()
        if isinstance(one, list | tuple):
            waiting.extend(one)
        elif isinstance(one, Mapping):
            if _is_compared(one):
                for name, against in one.items():
                    _check(name, against)
            else:
                waiting.extend(one.values())
    return wanted


def _check(name: object, against: object) -> None:
    if name not in _OPERATORS:
        raise InvalidInputError(
            "filter: unknown operator.", hint=f"Use one of {', '.join(sorted(_OPERATORS))}."
        )
    if name in _ORDERS and _number(against) is None:
        raise InvalidInputError(f"filter: {name} must be compared with a number.")


def _is_compared(wanted: Mapping[Any, Any]) -> bool:
    return any(isinstance(key, str) and key.startswith("$") for key in wanted)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def fits(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Return whether a value matches a filter that passed `checked`.

    A missing field counts as None. Order comparisons are false for values that are not numbers.
    """
    return all(_fits(value.get(field), one) for field, one in (wanted or {}).items())


def _fits(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if _is_compared(wanted):
            return all(_compares(value, name, one) for name, one in wanted.items())
        return isinstance(value, Mapping) and fits(value, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list) and len(value) == len(wanted) and all(map(_fits, value, wanted))
        )
    return bool(value == wanted)


def _compares(value: Any, name: str, against: Any) -> bool:
    if name == "$eq":
        return bool(value == against)
    if name == "$ne":
        return bool(value != against)
    left, right = _number(value), _number(against)
    return left is not None and right is not None and _ORDERS[name](left, right)


def sought(fits: Sequence[NamespaceMatch]) -> tuple[str, str]:
    """Return the end by which to look up namespaces in the index, and the labels to search there.

    The longest run of labels without a wildcard is used.
    """
    found = [("prefix", "")]
    for fit in fits:
        labels = fit.path if fit.end == "prefix" else fit.path[::-1]
        plain = labels[: labels.index("*")] if "*" in labels else labels
        found.append((fit.end, path(plain)))
    return max(found, key=lambda one: len(one[1]))
