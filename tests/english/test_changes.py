"""The words of two sentences show another value of one thing, or another thing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.paraphrases import PARAPHRASES
from bench.two_things import (
    CHANGED,
    HALVES,
    PARALLEL,
    RELATIONS,
    RESTATED,
    Case,
    Half,
    Relation,
    cases,
    judged,
)
from graphmem.english.changes import Change, between
from graphmem.rules.duplicates import difference
from tests.english import held_out_pairs
from tests.english.strategies_pairs import Pair, changed_facts, lightly_reworded, repeats, texts
from tests.plugins import pumps

MIN_FOUND, MAX_FALSE = 0.85, 0.05
"""Share of changed facts that is reported, and of restatements."""
MIN_REPLACED = 0.8
MAX_MARKED = 0.01


def of(relation: Relation, half: Half) -> list[Case]:
    return [case for case in cases() if (case.relation, case.half) == (relation, half)]


def share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def test_the_corpus_is_large_and_has_two_halves() -> None:
    assert len(cases()) == len({case[3:] for case in cases()})
    for relation in RELATIONS:
        sizes = [len(of(relation, half)) for half in HALVES]
        assert sum(sizes) >= 300
        assert max(sizes) - min(sizes) <= 20
    assert len({case.kind for case in cases()}) >= 25
    frames = [{case.first for case in of(CHANGED, half)} for half in HALVES]
    assert frames[0].isdisjoint(frames[1])


@pytest.mark.parametrize("half", HALVES)
def test_facts_about_two_things_both_stay(half: Half) -> None:
    found = [judged(case) for case in of(PARALLEL, half)]
    assert not any(one.merged or one.replaced for one in found)
    assert share([one.marked for one in found]) <= MAX_MARKED
    assert share([one.proposed for one in found]) <= MAX_MARKED


@pytest.mark.parametrize("half", HALVES)
def test_a_new_value_of_one_thing_is_recognised(half: Half) -> None:
    found = [judged(case) for case in of(CHANGED, half)]
    assert not any(one.merged for one in found)
    assert share([one.proposed for one in found]) >= 0.95
    assert share([one.replaced for one in found]) >= MIN_REPLACED
    assert share([one.marked for one in found]) >= MIN_REPLACED


@pytest.mark.parametrize("half", HALVES)
def test_the_same_in_other_words_is_no_new_value(half: Half) -> None:
    found = [judged(case) for case in of(RESTATED, half)]
    assert share([one.proposed for one in found]) <= MAX_FALSE
    assert not any(one.replaced or one.marked for one in found)


def updated(pairs: Sequence[Pair]) -> list[Pair]:
    return [p for p in pairs if between(p.first, p.second) > Change.NONE]


def test_changed_facts_are_updates() -> None:
    for pairs in (changed_facts(), lightly_reworded(), held_out_pairs.CHANGED):
        assert len(updated(pairs)) >= MIN_FOUND * len(pairs)


def test_repeats_and_other_facts_are_no_updates() -> None:
    assert updated([*repeats(), *held_out_pairs.REPEATED, *held_out_pairs.RELATED]) == []
    restated = [*repeats(), *(Pair("paraphrase", *pair) for pair in PARAPHRASES)]
    assert len(updated(restated)) <= MAX_FALSE * len(restated)


@pytest.mark.parametrize(
    ("first", "second", "change"),
    [
        ("The limit is 100", "The limit is now 200", Change.CERTAIN),
        (
            "It has more than 14 users in Porto",
            "It has less than 12 users in Porto",
            Change.CERTAIN,
        ),
        ("I live in Porto", "I no longer live in Porto", Change.CERTAIN),
        ("I live in Porto", "I live in Belo Horizonte", Change.CERTAIN),
        ("Tom leads the project", "Ines leads the project", Change.CERTAIN),
        ("Dr. Okafor is my dentist", "Dr. Lind is my dentist", Change.CERTAIN),
        ("The launch is 14 March", "The launch moved to 28 March", Change.CERTAIN),
        ("Our office is in Malmö", "Our office moved to Gothenburg", Change.POSSIBLE),
        ("Anna is vegetarian", "Anna is vegan now", Change.POSSIBLE),
        ("Lunch is at 1 PM on Tuesday", "Lunch is on Friday at 2 PM", Change.POSSIBLE),
        ("Alice manages Bob", "Bob manages Alice", Change.POSSIBLE),
        ("The door is green", "The door is blue", Change.POSSIBLE),
        ("My friend is Anna", "My friend is Bruno", Change.POSSIBLE),
        ("web-01 runs Debian 11", "web-01 runs Debian 12", Change.POSSIBLE),
        ("Kim drives a Volvo", "Kim now drives a Tesla", Change.POSSIBLE),
        ("Is the limit 100 requests?", "Is the limit 200 requests?", Change.POSSIBLE),
        ("Monday is when the lease ends", "Friday is when the lease ends", Change.POSSIBLE),
        (
            "Ana is well. The rate limit is 5 requests.",
            "Ana is well. The rate limit is 6 requests.",
            Change.CERTAIN,
        ),
    ],
)
def test_another_value_of_one_thing_is_a_change(first: str, second: str, change: Change) -> None:
    assert between(first, second) is change
    assert between(second, first) is change


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("", "The limit is 100"),
        ("The limit is 100", "the limit is 100."),
        ("He is married", "He is a carpenter"),
        ("He is tall", "He is not here"),
        ("The door is green and dry", "The door is blue and wet"),
        ("The limit's 100 requests", "The limit is 100 requests"),
        ("Our office is near the park", "The park is near our office"),
        ("I like tea", "Maria likes her new job in Porto"),
        ("Ana met Bob in Oslo", "Eve met Dan in Rome"),
        ("Alice lives in Porto", "Alice lives in a flat in the old part of the town"),
        ("Ana is well. The limit is 5.", "The limit is 6."),
        ("Ana is well. The limit is 5.", "Eve is well. The limit is 6."),
        ("Bob likes tea", "Ana doesn't like tea"),
        ("Fast trains at gate 3 leave at 9", "Fast trains at gate 4 leave at 9"),
        ("Our trains with 3 wagons leave at 9", "Our trains with 4 wagons leave at 9"),
        ("The team meeting is not on Monday", "The team meeting is not on Tuesday"),
        ("Ana is good at chess", "Ana is good at poker"),
        ("Ana is fluent in Greek", "Ana is fluent in Latin"),
        ("The vet prescribed drops", "The vet prescribed tablets"),
        ("My bank is ING", "My bank raised its fees"),
        ("I take my coffee black", "I drink my coffee black"),
        ("I don't eat pork", "I avoid pork"),
        ("Policy 12 requires 10 reviewers", "Policy 13 requires 12 reviewers"),
        (f"a b {'x1 ' * 100}", f"a b {'x2 y ' * 100}"),
    ],
)
def test_what_differs_otherwise_is_no_change(first: str, second: str) -> None:
    assert between(first, second) <= Change.NONE
    assert between(second, first) <= Change.NONE


@given(texts, texts)
def test_a_change_is_symmetric(first: str, second: str) -> None:
    change = between(first, second)
    assert change is between(second, first)
    if change > Change.NONE:
        assert difference(first, second)


_NAMES = st.sampled_from(["Anna", "Ben", "web-01", "web-02", "OPS-7", "Room B12", "AB123", "AB124"])
_FRAMES = st.sampled_from(
    [
        "{} lives in Porto.",
        "{} has 12 seats.",
        "The owner of {} is Priya.",
        "The limit of {} is 40 requests.",
        "{} starts at 9:30.",
        "{} is allergic to nuts.",
    ]
)


@given(_FRAMES, _NAMES, _NAMES)
def test_another_name_before_the_verb_is_another_thing(frame: str, one: str, other: str) -> None:
    assert between(frame.format(one), frame.format(other)) <= Change.NONE


@pytest.mark.parametrize("unit", ["a ", "no, ", "1 ", "x.", "is now 5 ", "'s", "runs ", "may 5 "])
def test_a_long_hostile_text_is_compared_in_linear_time(unit: str) -> None:
    assert pumps.is_linear(lambda text: between(text, text[::-1]), pumps.Attack("", unit, ""))
