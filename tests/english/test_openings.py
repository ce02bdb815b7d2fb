"""Find the items that a reply was taken from, by its words."""

from __future__ import annotations

import time

import pytest

from graphmem.english.openings import words_taken

SHOWN = {
    "lives": "My friend Mara lives in Porto.",
    "works": "Mara works as a nurse.",
    "born": "The birthday of Mara is on 3 May.",
    "eats": "Mara is allergic to peanuts.",
    "other": "Jonas is allergic to shellfish and lives in Lyon.",
}


@pytest.mark.parametrize(
    ("question", "reply", "used"),
    [
        ("Where does Mara live?", "Porto.", ["lives"]),
        ("Where does Mara live?", "She lives in Porto now.", ["lives"]),
        ("Where does Mara live?", "In Porto, as far as I know.", ["lives"]),
        ("What does Mara do?", "Mara works as a nurse.", ["works"]),
        ("When is Mara's birthday?", "On 3 May!", ["born"]),
        ("When is Mara's birthday?", "On the 3rd of May.", ["born"]),
        ("What must Mara not eat?", "She is allergic to peanuts.", ["eats"]),
        ("What must Jonas not eat?", "He is allergic to shellfish.", ["other"]),
        ("Tell me about Mara.", "She is a nurse and lives in Porto.", ["lives", "works"]),
        # Nothing that was shown is in the reply.
        ("Where does Mara live?", "I do not know that.", []),
        ("Where does Mara live?", "Sorry, I have no information about it.", []),
        ("Where does Mara live?", "Mara? I cannot tell where she lives.", []),
        ("Where does Mara live?", "Bergen.", []),
        ("Where does Mara live?", "", []),
        # One word among many is chance.
        ("Where does Mara live?", "A nurse can recommend walks, tea, sleep and vitamins.", []),
    ],
)
def test_a_reply_is_taken_from_the_items_whose_words_it_repeats(
    question: str, reply: str, used: list[str]
) -> None:
    assert sorted(words_taken(reply, [question], SHOWN)) == sorted(used)


def test_a_word_counts_for_one_item() -> None:
    shown = {"first": "Ann moved to Porto.", "again": "Porto.", "rain": "Ann moved in the rain."}
    assert words_taken("To Porto.", ["Where did Ann move?"], shown) == ["first"]
    assert words_taken("To Porto, rain.", ["Where did Ann move?"], shown) == ["first", "rain"]


def test_nothing_is_taken_from_nothing() -> None:
    assert words_taken("Porto.", [], {}) == []
    assert words_taken("Porto.", ["Where?"], {"a": "", "b": "?!"}) == []


def test_long_replies_are_compared_in_linear_time() -> None:
    shown = {str(n): f"Item {n} is about word{'x' * (n % 7)} and Porto." for n in range(200)}
    started = time.perf_counter()
    words_taken("Porto and words " * 20_000, ["Where?"], shown)
    assert time.perf_counter() - started < 10
