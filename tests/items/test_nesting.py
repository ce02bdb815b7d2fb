"""A limit of nesting that does not depend on the caller's stack."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from graphmem.errors import InvalidInputError
from graphmem.items import rules
from graphmem.items.rules import MAX_LEVELS


def nested(levels: int, *, of: str) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"a": 1, "b": value} if of == "maps" else [1, value]
    return value


@pytest.mark.parametrize("of", ["maps", "lists"])
def test_the_last_level_that_is_taken(of: str) -> None:
    assert not rules.is_too_deep("x")
    assert not rules.is_too_deep(nested(MAX_LEVELS, of=of))
    assert rules.is_too_deep(nested(MAX_LEVELS + 1, of=of))
    assert rules.is_too_deep(nested(100_000, of=of))


def test_a_value_inside_itself_is_too_deep() -> None:
    value: list[Any] = []
    value.append(value)
    assert rules.is_too_deep(value)


def test_shared_parts_are_looked_at_once_a_level() -> None:
    """Doubled at each level, this one has 2**100 paths."""
    value: Any = "x"
    for _ in range(MAX_LEVELS):
        value = [value, value]
    assert not rules.is_too_deep(value)


@pytest.mark.parametrize("levels", [MAX_LEVELS, MAX_LEVELS + 1])
def test_an_item_is_taken_or_refused_at_every_depth_of_the_callers_stack(levels: int) -> None:
    value = nested(levels, of="maps")

    def called(frames: int) -> object:
        if frames:
            return called(frames - 1)
        try:
            return rules.decode_value(rules.encode_value(value)) == value
        except InvalidInputError as error:
            return error.message

    # Far enough from the end of the stack for pytest's own frames and for those of JSON.
    free = sys.getrecursionlimit() - 400
    expected = True if levels == MAX_LEVELS else "value must be nested at most 100 levels deep."
    assert {called(frames) for frames in (0, free // 2, free)} == {expected}
