"""What nobody should give: wrong types, broken text, odd numbers, ends of time, deep nesting."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import strategies as st

from graphmem import AsOf
from graphmem.errors import GraphmemError

SECRET = "correct-horse-battery-staple"
"""A password that stands in settings and must stand in no message."""
DEPTH = 3_000
LONGEST = 2_000
"""Characters of an error: a person reads it."""


class DeepList(list[Any]):
    """Lists in lists, so many that none of them can be shown."""

    def __repr__(self) -> str:
        return "DeepList()"


class DeepMap(dict[str, Any]):
    """Maps in maps, likewise."""

    def __repr__(self) -> str:
        return "DeepMap()"


def _deep_list() -> DeepList:
    found: Any = 1
    for _ in range(DEPTH):
        found = [found]
    return DeepList(found)


def _deep_map() -> DeepMap:
    found: Any = 1
    for _ in range(DEPTH):
        found = {"a": found}
    return DeepMap(found)


def _endless() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


class Odd(str):
    """A string that is none to whoever compares types."""

    __slots__ = ()


ODD_TEXTS = (
    *("", " ", "\t\n\u2003", "\0", "a\0b", "\ud800", "a\udfffb", "\ufeff", "\u202e", "\u200b"),
    *("x" * 201, "x" * 10_001, "é" * 12_000, "a " * 5_000, "e\u0301" * 300, "\U0001f600" * 300),
    *('AND OR NOT && || ! ( ) { } [ ] ^ " ~ * ? : \\ /', "+tenant_key:*", "$tenant", "${tenant}"),
    *("'; MATCH (n) DETACH DELETE n //", '"}) //', "`global`", "{0.__class__}", "%s%n", "<b>"),
    *("../../etc/passwd", "file:///etc/passwd", "C:\\con", "-", "--json", "nan", "1e999", "0x1f"),
    *("9999-12-31T23:59:59.999999-14:00", "0001-01-01T00:00:00+14:00", "2024-02-30", "12345678"),
    *("{}", "[]", "null", "[[[[", '{"a":', "1" * 5_000, base64.b64encode(b"x y").decode(), "Zm9v"),
    *("supporting", "ONE", "global", "user:alice", "m_" + "0" * 32, "b_" + "f" * 32),
)
ODD_NUMBERS: tuple[Any, ...] = (
    *(-1, 0, 1, 2, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30, 10**400, True, False),
    *(0.0, -0.0, 0.5, 1.0, 1.0000000001, -1e-9, 5e-324, 1.8e308, -1e308),
    *(float("nan"), float("inf"), float("-inf"), Decimal("NaN"), Decimal("1e999"), 1 + 2j),
    *(np.float64("nan"), np.int64(3), np.float32(0.5)),
)
ODD_INSTANTS: tuple[Any, ...] = (
    *(datetime.min, datetime.max, datetime(2024, 1, 1)),  # noqa: DTZ001, DTZ901 - without a zone
    datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=-14))),
    *(datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)),
    *(datetime(1969, 12, 31, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC), date(2024, 1, 1)),
    *(timedelta(days=1), timedelta.max, AsOf(), AsOf(valid=datetime(1, 1, 1, tzinfo=UTC))),
    AsOf(known=datetime(9999, 12, 31, tzinfo=UTC)),
)
ODD_OBJECTS: tuple[Any, ...] = (
    *(None, ..., NotImplemented, object(), object, int, len, b"", b"\xff\x00", bytearray(b"x")),
    *({1, 2}, frozenset(), range(3), np.zeros(3), memoryview(b"x"), Odd("alice"), Exception("x")),
    *(_endless(), [], {}, (), [[]], {"": ""}, {1: 2}, {None: None}, {"id": "\ud800"}, [None] * 300),
    *(_deep_list(), _deep_map(), ["a"] * 2_000, [{}] * 70),
)

ONE_OF_EACH: tuple[Any, ...] = (
    *("", "a\0b", "\ud800", "x" * 10_001, "no", "-", "{}", "m_" + "0" * 32),
    *(-1, 0, 10**30, 0.5, float("nan"), True, Decimal("NaN"), np.float64("nan")),
    *(datetime(2024, 1, 1), datetime.max.replace(tzinfo=UTC), timedelta.max),  # noqa: DTZ001
    *(None, object(), int, b"\xff", {1, 2}, np.zeros(3), Odd("alice"), _endless(), _deep_map()),
    *([], [5], ["\ud800"], ["x" * 10_001], {}, {"a": 1}, [{"a": 1}]),
)
"""One of each kind of what nobody should give."""

texts: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(ODD_TEXTS),
    st.text(st.characters(codec=None), max_size=30),
    st.text("\x00\x1f\x1e .,:*?\"'\\/{}[]()$&|<>aé", max_size=20),
)
numbers: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(ODD_NUMBERS), st.integers(), st.floats()
)
leaves: st.SearchStrategy[Any] = st.one_of(
    texts, numbers, st.sampled_from(ODD_INSTANTS), st.sampled_from(ODD_OBJECTS), st.binary()
)
values: st.SearchStrategy[Any] = st.one_of(
    leaves,
    st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=4,
    ),
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | texts.filter(lambda text: len(text) < 1_000),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


def refusal(
    call: Callable[[], Any], *, by: type[GraphmemError] = GraphmemError
) -> GraphmemError | None:
    """Return the error that a call was refused with, or None; no other error may end it."""
    try:
        call()
    except by as error:
        return error
    return None


def everything_of(error: BaseException | None) -> str:
    """Return all that an error holds, with every error that goes along with it."""
    if error is None:
        return ""
    own = f"{error} {error!r} {error.args!r} {vars(error)!r}"
    return own + everything_of(error.__cause__) + everything_of(error.__context__)
