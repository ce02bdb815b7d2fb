"""Names, numbers and dates that a model's statement adds to its texts are found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphmem import folding
from graphmem.consolidation.rules import invented_value, states_triple

NAMES = ("Mallory", "Zürich", "Nordlys", "Dostoevsky", "İzmir", "O'Brien", "Ørsted", "Łódź")
MONTHS = ("January", "March", "August", "December")
WEEKDAYS = ("Monday", "Thursday", "Sunday")
names = st.sampled_from(NAMES)
numbers = st.one_of(
    st.integers(13, 10**6).map(str),
    st.integers(1, 12).map(lambda n: f"{n}.5"),
    st.sampled_from(["forty", "twelve", "three hundred"]),
)
days = st.one_of(
    st.tuples(st.integers(1, 28), st.sampled_from(MONTHS)).map(lambda one: f"{one[0]} {one[1]}"),
    st.sampled_from(WEEKDAYS),
    st.sampled_from(["2031-04-05", "in 2031", "17:45"]),
)
PLACES = (
    "I swim across the lake with {} before breakfast",
    "before breakfast I swim across the lake, {}",
    "I swim across the lake before breakfast ({}).",
    "{} is when and where I swim across the lake",
)
TEXTS = ("I swim across the lake before breakfast.", "Across the lake I swim, before breakfast.")
values = st.one_of(names, numbers, days)
stated = st.tuples(values, st.sampled_from(PLACES))


@given(stated)
def test_a_value_that_no_text_has_is_found(case: tuple[str, str]) -> None:
    value, place = case
    found = invented_value(place.format(value), TEXTS)
    assert found is not None


@given(stated, st.sampled_from(["{}", "It was {}!", "({})", "so {}, it seems"]))
def test_a_value_that_a_text_has_is_not_invented(case: tuple[str, str], other: str) -> None:
    value, place = case
    assert invented_value(place.format(value), [*TEXTS, other.format(value)]) is None


WORDED = (("twelve", 12), ("forty", 40), ("three hundred", 300))
amounts = st.one_of(
    st.integers(13, 10**6).map(lambda n: (str(n), n)),
    st.integers(1_000, 10**6).map(lambda n: (f"{n:,}", n)),
    st.tuples(st.integers(1, 99), st.integers(1, 9)).map(
        lambda one: (f"{one[0]}.{one[1]}", one[0] + one[1] / 10)
    ),
    st.sampled_from(WORDED),
)


@given(amounts, amounts)
def test_another_number_is_invented(first: tuple[str, float], second: tuple[str, float]) -> None:
    (one, is_one), (other, is_other) = first, second
    assume(is_one != is_other)
    assert invented_value(f"I own {other} boats", [f"I own {one} boats"]) is not None


@given(st.permutations(["04", "05", "11"]), st.permutations(["04", "05", "11"]))
def test_the_parts_of_a_date_in_another_order_are_another_date(
    one: list[str], other: list[str]
) -> None:
    first, second = (f"20{'-'.join(parts)}" for parts in (one, other))
    stated = states_triple(f"Ann moved on {first}", "Ann", "moved_on", second)
    assert stated == (first == second)


@given(st.sampled_from(["every day", "often", "each morning", "always"]))
def test_how_often_is_what_a_model_concludes(often: str) -> None:
    assert invented_value(f"I swim across the lake {often}", TEXTS) is None


VERBS = ("swims_in", "is afraid of", "works-with", "owns")
objects = st.one_of(names, st.sampled_from(["the cold lake", "a red boat", "green tea"]), numbers)


def worded(subject: str, verb: str, object_: str) -> str:
    plain = verb.replace("_", " ").replace("-", " ")
    return f"{subject} {plain} {object_}."


@given(names, st.sampled_from(VERBS), objects)
def test_a_fact_is_stated_by_its_sentence(subject: str, verb: str, object_: str) -> None:
    assert states_triple(worded(subject, verb, object_), subject, verb, object_)


@given(names, st.sampled_from(VERBS), objects, st.data())
def test_a_fact_with_another_part_is_not_stated(
    subject: str, verb: str, object_: str, data: st.DataObject
) -> None:
    statement = worded(subject, verb, object_).rstrip(".")
    other = data.draw(objects)
    assume(not set(folding.fold(other).split()) & set(folding.fold(statement).split()))
    changed: dict[str, Any] = {
        "subject": (other, verb, object_),
        "object": (subject, verb, other),
        "negated": (subject, f"never {verb}", object_),
    }
    part = data.draw(st.sampled_from(sorted(changed)))
    assert not states_triple(statement, *changed[part])


@pytest.mark.parametrize("no", ["never", "no longer", "not", "doesn't", "without"])
def test_a_denial_does_not_state_the_fact(no: str) -> None:
    assert not states_triple(f"Ann {no} owns a boat", "Ann", "owns", "a boat")
