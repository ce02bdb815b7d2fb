"""Near duplicates and updates: changed facts survive, repeats are found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.english.changes import Change
from graphmem.english.facts import fact_tokens
from graphmem.english.quantities import FactKind
from graphmem.rules.duplicates import Duplicate, NearMatch, difference, find_duplicate
from tests.english.strategies_pairs import Pair, changed_facts, lightly_reworded, repeats, texts
from tests.plugins import pumps
from tests.plugins.samples import on_each

NEAR, UPDATE = 0.8, 0.6
FACTS = ("number", "date", "weekday", "name", "negation")


def near(memory_id: str, content: str, similarity: float) -> NearMatch:
    return NearMatch(memory_id, "own", content, (), similarity)


def repeated(candidate: NearMatch) -> Duplicate:
    return Duplicate(candidate, frozenset())


def unseen(pairs: list[Pair]) -> list[Pair]:
    return [p for p in pairs if not difference(p.first, p.second)]


def test_no_changed_fact_is_taken_for_a_repeat() -> None:
    pairs = changed_facts()
    assert sum(pair.kind in FACTS for pair in pairs) >= 200
    assert unseen(pairs) == []


def test_no_changed_fact_hides_behind_another_wording() -> None:
    assert unseen(lightly_reworded()) == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("number", FactKind.NUMBER),
        ("date", FactKind.DATE),
        ("weekday", FactKind.DATE),
        ("negation", FactKind.NEGATION),
    ],
)
def test_the_kind_of_a_changed_fact_is_named(kind: str, expected: FactKind) -> None:
    pairs = [p for p in changed_facts() if p.kind == kind]
    assert pairs
    assert [p for p in pairs if expected not in difference(p.first, p.second)] == []


def test_repeats_are_found() -> None:
    pairs = repeats()
    assert len(unseen(pairs)) / len(pairs) >= 0.95


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("There are three cats", "there are 3 cats"),
        ("It has 1,000 users", "It has 1000 users"),
        ("It has 2.5k users", "It has 2500 users"),
        ("1.2 million", "1,200,000"),
        ("one hundred and five seats", "105 seats"),
        ("It costs $5 a month", "It costs 5 dollars a month"),
        ("5% off", "5 percent off"),
        ("my second job", "my 2nd job"),
        ("Lunch at 3pm", "lunch at 3:00 PM"),
        ("Lunch at 15:00", "lunch at 3 p.m."),
        ("We meet on the 5th of May", "On May 5 we meet"),
        ("due 2024-03-15", "due March 15, 2024"),
        ("The meeting is on Tue", "the meeting is Tuesday"),
        ("I do like tea", "I like tea"),
        ("I dont like tea", "I do not like tea"),
        ("She is working at Acme", "She works at Acme"),
        ("She is planning the trip", "She plans the trip"),
        ("user is allergic to peanuts", "user is allergic to peanut"),
        ("The limit's in place", "The limit is in place"),
        ("Yesterday I met Bob", "I met Bob yesterday"),
        ("bread and butter", "bread, butter"),
        ("the follow-up", "The follow up"),
        ("MOVED TO PORTO", "moved to Porto"),
        ("two hundred thousand seats", "200,000 seats"),
        ("a million and one nights", "1000001 nights"),
        ("zero bugs", "0 bugs"),
        ("pages 10–20", "pages 10-20"),
        ("٤٢ seats", "42 seats"),
        ("soft\u00adware", "software"),
        ("Founded in 1999 by Ada", "founded in 1999 by Ada"),
        ("In 1999 Ada founded it", "Ada founded it in 1999"),
        ("Lunch is at 1 PM on Tuesday", "Lunch is on Tuesday at 13:00"),
        ("It runs twice a day", "It runs twice per day"),
        ("100 requests a minute", "100 requests per minute"),
        ("She isn't working at Acme", "She doesn't work at Acme"),
        ("café au lait", "cafe\u0301 au lait"),
        ("She works in IT.", "she works in it"),
        ("Do NOT call.", "Do not call."),
        ('Bob wrote "the limit is 5"', "Bob wrote the limit is 5"),
        ("The board is 5' long.", "The board is 5′ long."),
    ],
)
def test_another_wording_says_the_same(first: str, second: str) -> None:
    assert difference(first, second) == frozenset()


@pytest.mark.parametrize(
    ("first", "second", "kinds"),
    [
        ("i moved to porto", "i moved to lisbon", {FactKind.VALUE}),
        ("prefers tea", "prefers coffee", {FactKind.VALUE}),
        ("from Porto to Lisbon", "from Lisbon to Porto", {FactKind.NAME}),
        ("from porto to lisbon", "to porto from lisbon", {FactKind.VALUE}),
        ("Alice manages Bob", "Bob manages Alice", {FactKind.NAME}),
        ("I do like tea, not coffee", "I like coffee, not tea", {FactKind.NEGATION}),
        ("No, dogs are allowed", "No dogs are allowed", {FactKind.NEGATION}),
        ("I like not just tea", "I like not tea", {FactKind.VALUE}),
        ("a != b", "a = b", {FactKind.NEGATION}),
        ("feed the dog", "feed the dogs", {FactKind.VALUE}),
        ("the plan works", "the plane works", {FactKind.VALUE}),
        ("Adam called", "Adams called", {FactKind.NAME}),
        ("I am at Acme", "I was at Acme", {FactKind.VALUE}),
        ("Is Bob late", "Bob is late", {FactKind.VALUE}),
        ("Bob is late?", "Bob is late.", {FactKind.VALUE}),
        ("Plan A won", "Plan won", {FactKind.VALUE}),
        ("grade A-", "grade A", {FactKind.NAME, FactKind.VALUE}),
        ("few came", "a few came", {FactKind.VALUE}),
        ("3 apples, 5 pears", "apples 3, pears 5", {FactKind.VALUE}),
        ("3 apples, 5 pears", "5 apples, 3 pears", {FactKind.NUMBER}),
        ("version 2.1", "version 2.10", {FactKind.NUMBER}),
        ("-5 degrees", "5 degrees", {FactKind.NUMBER}),
        ("10² units", "102 units", {FactKind.NUMBER, FactKind.VALUE}),
        ("at 3:00", "at 3 PM", {FactKind.DATE}),
        ("Tuesday 3 PM, Monday 4 PM", "Monday 3 PM, Tuesday 4 PM", {FactKind.DATE}),
        ("2 per room", "2 rooms", {FactKind.VALUE}),
        ("5 a minute", "5 minutes", {FactKind.VALUE}),
        ("Monday Bob cooks, Tuesday Al", "Tuesday Bob cooks, Monday Al", {FactKind.DATE}),
        ("the sun", "the Sunday", {FactKind.VALUE, FactKind.DATE}),
        ("see file_name", "see file-name", {FactKind.NAME, FactKind.VALUE}),
        ("a fine day 😀", "a fine day 😢", {FactKind.VALUE}),
        ("C code", "C++ code", {FactKind.NAME}),
        ("हम का", "हम की", {FactKind.NAME}),
        ("in Massen", "in Maßen", {FactKind.NAME}),
        ("She works in IT.", "She works in it.", {FactKind.NAME}),
        ("The US asked.", "The us asked.", {FactKind.NAME}),
        ("A PIN is needed.", "A pin is needed.", {FactKind.NAME}),
        ("The board is 5′ long.", "The board is 5″ long.", {FactKind.VALUE}),
        ("He is 6' 2\" tall.", "He is 6\" 2' tall.", {FactKind.VALUE}),
        ("It is 5 ‰.", "It is 5.", {FactKind.VALUE}),
        ("See §5.", "See 5.", {FactKind.VALUE}),
        ("The bus stops at 4.", "The bus is at 4.", {FactKind.VALUE}),
    ],
)
def test_a_changed_fact_differs_both_ways(first: str, second: str, kinds: set[FactKind]) -> None:
    assert difference(first, second) == kinds
    assert difference(second, first) == kinds


@given(texts, texts)
def test_difference_is_symmetric(first: str, second: str) -> None:
    assert difference(first, second) == difference(second, first)


@given(texts)
def test_a_text_says_what_it_says(text: str) -> None:
    assert difference(text, text) == frozenset()


@given(texts, st.sampled_from(["\n", "  ", " \t"]))
def test_white_space_around_a_text_says_nothing(text: str, space: str) -> None:
    assert difference(text, space + text + space) == frozenset()


@pytest.mark.parametrize(
    "unit", ["a ", "no, ", "1 ", "1-", "x.", "is working ", "hundred and ", "'s", "$", "may 5 "]
)
def test_a_long_hostile_text_is_read_in_linear_time(unit: str) -> None:
    assert pumps.is_linear(lambda text: difference(text, text[::-1]), pumps.Attack("", unit, ""))


def test_long_numbers_stay_exact() -> None:
    assert difference("9" * 5000, "9" * 4999 + "8") == {FactKind.NUMBER}
    assert difference(f"{'1' * 40}k", f"{'1' * 40}000") == frozenset()


def test_words_read_quantities_in_one_spelling() -> None:
    keys = [
        word.key
        for word in fact_tokens("On May 5th at 3:30pm, twenty-one users paid $1,000 or 2.5k")
    ]
    assert keys == [
        *("----" + "-05-05", "@15:30", "21", "users", "paid", "1000", "dollar", "or", "2500")
    ]


def test_the_first_candidate_that_says_the_same_is_the_duplicate() -> None:
    candidates = [
        near("m_b", "The limit is 200.", 0.99),
        near("m_c", "the limit is 100!", 0.95),
        near("m_a", "So: the limit is 100", 0.95),
        near("m_d", "The limit is 100", 0.7),
    ]
    offered = "The limit is 100"
    assert find_duplicate(offered, candidates[:2], NEAR, UPDATE) == repeated(candidates[1])
    assert find_duplicate(offered, [candidates[0], candidates[3]], NEAR, UPDATE) == Duplicate(
        candidates[0], frozenset({FactKind.NUMBER}), Change.CERTAIN
    )


def test_equal_similarities_go_to_the_smaller_id() -> None:
    rows = [near(name, "Tea is good", 0.95) for name in ("m_2", "m_1", "m_3")]
    assert find_duplicate("tea is good", rows, NEAR, UPDATE) == repeated(rows[1])
    rows = [near(name, "Tea is bad", 0.95) for name in ("m_2", "m_1", "m_3")]
    assert find_duplicate("tea is good", rows, NEAR, UPDATE) == Duplicate(
        rows[1], frozenset({FactKind.VALUE}), Change.POSSIBLE
    )


@pytest.mark.parametrize("similarity", [0.7999, -1.0, float("nan")])
def test_nothing_below_the_threshold_is_considered(similarity: float) -> None:
    assert find_duplicate("Tea", [near("m_1", "Tea", similarity)], NEAR, UPDATE) is None
    assert find_duplicate("Tea", [], NEAR, UPDATE) is None


def test_the_thresholds_themselves_are_enough() -> None:
    candidate = near("m_1", "tea", NEAR)
    assert find_duplicate("Tea", [candidate], NEAR, UPDATE) == repeated(candidate)
    older = near("m_1", "The limit is 100", UPDATE)
    assert find_duplicate("The limit is 200", [older], NEAR, UPDATE) == Duplicate(
        older, frozenset({FactKind.NUMBER}), Change.CERTAIN
    )
    assert find_duplicate("The limit is 200", [older], NEAR, UPDATE + 0.01) is None


def test_a_repeat_below_its_threshold_is_no_update() -> None:
    assert find_duplicate("Tea is good", [near("m_1", "tea is good", 0.7)], NEAR, UPDATE) is None


def test_thresholds_in_the_other_order_are_both_kept() -> None:
    rows = [near("m_1", "The limit is 100", 0.7), near("m_2", "the limit is 200!", 0.7)]
    assert find_duplicate("The limit is 200", rows, 0.6, 0.9) == repeated(rows[1])
    assert find_duplicate("The limit is 300", rows, 0.6, 0.9) is None


def test_an_unlike_neighbour_hides_no_update() -> None:
    rows = [
        near("m_1", "The limit was discussed at length today", 0.95),
        near("m_2", "The limit is 100", 0.7),
    ]
    assert find_duplicate("The limit is 200", rows, NEAR, UPDATE) == Duplicate(
        rows[1], frozenset({FactKind.NUMBER}), Change.CERTAIN
    )


@given(st.data())
def test_the_order_of_candidates_does_not_matter(data: st.DataObject) -> None:
    offered = data.draw(texts)
    rows = [
        near(f"m_{n}", text, similarity)
        for n, (text, similarity) in enumerate(
            data.draw(st.lists(st.tuples(texts, st.sampled_from([0.9, 0.93, 0.96])), max_size=5))
        )
    ]
    expected = find_duplicate(offered, rows, NEAR, UPDATE)
    assert find_duplicate(offered, data.draw(st.permutations(rows)), NEAR, UPDATE) == expected


def knowledge_updates(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (message with the original fact, message with the updated one) of every BEAM chat."""
    for chat in sorted(folder.glob("*/chat.json")):
        messages = {
            message["id"]: message["content"].partition("->->")[0].strip()
            for batch in json.loads(chat.read_text("utf-8"))
            for turn in batch["turns"]
            for message in turn
        }
        questions: dict[str, Any] = json.loads(
            chat.with_name("probing_questions.json").read_text("utf-8")
        )
        for question in questions["knowledge_update"]:
            ids = question["source_chat_ids"]
            for original in ids["original_info"]:
                for updated in set(ids["updated_info"]) - {original}:
                    yield messages[original], messages[updated]


def closest_sentences(first: str, second: str) -> tuple[str, str]:
    """Return the two sentences, one of each text, that share the largest part of their words."""

    def sentences(text: str) -> list[str]:
        return [s for line in text.splitlines() for s in line.split(". ") if len(s.split()) > 3]

    def overlap(pair: tuple[str, str]) -> float:
        a, b = (set(s.lower().split()) for s in pair)
        return len(a & b) / len(a | b)

    return max(((a, b) for a in sentences(first) for b in sentences(second) if a != b), key=overlap)


@on_each(("folder", "min_pairs"), "beam", sample=(6,), real=(18,))
def test_no_knowledge_update_of_a_chat_is_taken_for_a_repeat(folder: Path, min_pairs: int) -> None:
    pairs = list(knowledge_updates(folder))
    assert len(pairs) >= min_pairs
    pairs += [closest_sentences(*pair) for pair in pairs]
    assert [pair for pair in pairs if not difference(*pair)] == []
