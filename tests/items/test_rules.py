"""Items: ids, JSON, tokens of fields and filters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.errors import InvalidInputError
from graphmem.items import NamespaceMatch, rules

labels = st.text(st.characters(codec="utf-8", exclude_characters=".\0"), min_size=1, max_size=4)
namespaces = st.lists(labels, max_size=4).map(tuple)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**53, 2**53 + 1, 10**400]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=4),
)
json_values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
fields = st.sampled_from(["a", "b", ""])
values = st.dictionaries(fields, json_values, max_size=3)


@given(one=namespaces, other=namespaces)
def test_namespaces_have_ids_of_their_own(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert (rules.namespace_id("s", one) == rules.namespace_id("s", other)) == (one == other)


@given(one=st.tuples(namespaces, st.text()), other=st.tuples(namespaces, st.text()))
@example(one=(("a",), "b.c"), other=(("a", "b"), "c"))
def test_items_have_ids_of_their_own(one: Any, other: Any) -> None:
    assert (rules.item_id("s", *one) == rules.item_id("s", *other)) == (one == other)


@given(one=namespaces, other=namespaces)
@example(one=("a",), other=("ab",))
@example(one=("a",), other=("a/",))
@example(one=("a",), other=("a-",))
@example(one=("a",), other=("a", "\U0001f600"))
@example(one=(), other=("\U0010fffe",))
@example(one=(), other=("\U0010ffff" * 500, "\U0010ffff" * 498))
def test_a_span_holds_what_begins_with_a_path(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    low, high = rules.path_bounds(rules.namespace_path(one))
    inside = low.encode() <= rules.namespace_path(other).encode() < high.encode()
    assert (
        inside
        == (other[: len(one)] == one)
        == rules.namespace_path(other).startswith(rules.namespace_path(one))
    )


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), json_values))
def test_a_value_comes_back_as_it_was(value: dict[str, Any]) -> None:
    again = rules.decode_value(rules.encode_value(value))
    assert json.dumps(again) == json.dumps(value)


def is_accepted(wanted: dict[str, Any]) -> bool:
    """Return whether a generated filter is valid; its keys may start with `$`."""
    try:
        rules.check_filter(wanted)
    except InvalidInputError:
        return False
    return True


@given(value=values, wanted=values)
@example(value={"a": 1}, wanted={"a": {"$": 1}})
def test_the_tokens_let_everything_pass_that_fits(
    value: dict[str, Any], wanted: dict[str, Any]
) -> None:
    for filter_ in (wanted, {field: {"$eq": one} for field, one in wanted.items()}):
        if is_accepted(filter_) and rules.matches_filter(value, filter_):
            assert set(rules.filter_tokens(filter_)) <= set(rules.value_tokens(value))


@pytest.mark.parametrize("same", [(1, 1.0, True), (0, -0.0, False), (10**22, 1e22)])
def test_equal_values_have_one_token(same: tuple[Any, ...]) -> None:
    assert len({*(token for one in same for token in rules.value_tokens({"a": one}))}) == 1


@given(value=values, other=values)
@example(value={"a": [{"$": None}]}, other={})
def test_a_value_fits_itself(value: dict[str, Any], other: dict[str, Any]) -> None:
    plain = {
        field: one
        for field, one in value.items()
        if not isinstance(one, dict) and is_accepted({field: one})
    }
    assert rules.matches_filter({**other, **value}, plain)
    assert rules.matches_filter(value, {field: {"$eq": one} for field, one in value.items()})
    assert not value or not rules.matches_filter(
        value, {f: {"$ne": one} for f, one in value.items()}
    )
    assert rules.matches_filter(value, None)


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({"n": {"$gt": 1}}, True),
        ({"n": {"$gt": 2}}, False),
        ({"n": {"$gte": 2, "$lt": 3}}, True),
        ({"n": {"$lte": "1.5"}}, False),
        ({"s": {"$gt": 1}}, False),
        ({"s": {"$lte": 10**400}}, False),
        ({"none": None}, True),
        ({"none": {"$lt": 1}}, False),
        ({"deep": {"a": [1, {"$gt": 1}]}}, True),
        ({"deep": {"a": [1]}}, False),
        ({"deep": {"b": None}}, True),
        ({"n": {"a": 2}}, False),
        ({"deep": {}}, True),
        ({"n": [2]}, False),
        ({"n": 2, "s": "x"}, True),
        ({"n": 2, "s": "y"}, False),
    ],
)
def test_what_fits(wanted: dict[str, Any], *, fits: bool) -> None:
    value = {"n": 2, "s": "x", "none": None, "deep": {"a": [1, 2]}}
    assert rules.matches_filter(value, wanted) is fits


@pytest.mark.parametrize(
    "wanted",
    [
        {"a": {"$in": 1}},
        {"a": {"$gt": "x"}},
        {"a": {"$gt": 1, "b": 2}},
        {"a": [{"$": None}]},
        {"a": [{"b": {"$lt": None}}]},
    ],
)
def test_a_filter_is_checked_all_through(wanted: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        rules.check_filter(wanted)


def test_a_filter_without_fault_is_itself() -> None:
    wanted = {"a": {"$gt": 1}, "b": [{"c": {"$eq": None}}], "d": {"e": 1}}
    assert rules.check_filter(wanted) is wanted
    assert rules.check_filter(None) is None


def test_what_is_looked_up_in_the_index() -> None:
    def fit(end: Any, *path: str) -> NamespaceMatch:
        return NamespaceMatch(end=end, path=path)

    assert rules.index_lookup([]) == ("prefix", "")
    assert rules.index_lookup([fit("prefix", "a", "b")]) == ("prefix", "a.b.")
    assert rules.index_lookup([fit("prefix", "a", "*", "b")]) == ("prefix", "a.")
    assert rules.index_lookup([fit("suffix", "*", "b", "c")]) == ("suffix", "c.b.")
    assert rules.index_lookup([fit("prefix", "*"), fit("suffix", "*")]) == ("prefix", "")
    assert rules.index_lookup([fit("prefix", "a"), fit("suffix", "bc")]) == ("suffix", "bc.")
