"""Forms read without a model: their proposals, and the sentences they skip."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.extraction import Proposal
from graphmem.extraction.proposals import CheckContext, check_proposals
from graphmem.extraction.sentences import parse_window
from graphmem.model import Turn
from tests.plugins.sayings import read_together, turn

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "extraction.md"
FORM = re.compile(r"^\| `(?P<sentence>[^`]+)` \| `(?P<fact>[^`]+)` \|", re.MULTILINE)


def facts(*turns: Turn, offered: list[int] | None = None) -> list[str]:
    found, _ = parse_window(read_together(turns, offered))
    return [fact(one) for one in found]


def fact(one: Proposal) -> str:
    sign = "" if one.kind.polarity > 0 else "not "
    return f"{sign}{one.subject} {one.predicate} {one.object}" + (
        f", {one.when}" if one.when else ""
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Lisbon.", ["user lives_in Lisbon"]),
        ("I’m living in the Netherlands now", ["user lives_in Netherlands"]),
        ("Well, I just moved to New York!", ["user lives_in New York"]),
        ("I've moved to Porto last month.", ["user lives_in Porto, last month"]),
        ("I moved from Lisbon to Porto last week.", ["user lives_in Porto, last week"]),
        ("My new phone number is 555 0199.", ["user phone_number 555 0199"]),
        ("My extension is now 402.", ["user extension 402"]),
        ("I like having some of these around the house.", []),
        ("I prefer trialing new software before the purchase.", []),
        ("I prefer visual learning -> 1,23", []),
        ("I've moved back to Porto since May.", ["user lives_in Porto, since May"]),
        ("I moved to Porto in May 2024 because of work", ["user lives_in Porto, in May 2024"]),
        ("I no longer live in Lisbon.", ["not user lives_in Lisbon"]),
        ("I don't live in Lisbon any more.", ["not user lives_in Lisbon"]),
        ("I used to live in Madrid.", ["not user lives_in Madrid"]),
        ("I work at Acme.", ["user works_at Acme"]),
        ("I'm working for Acme Corp since March", ["user works_at Acme Corp, since March"]),
        ("I work as a nurse.", ["user works_as nurse"]),
        ("I am working on Borealis", ["user works_on Borealis"]),
        ("I really love green tea.", ["user likes green tea"]),
        ("I don't like coffee", ["not user likes coffee"]),
        ("I hate early meetings", ["user dislikes early meetings"]),
        ("I prefer window seats", ["user prefers window seats"]),
        ("I speak Portuguese", ["user speaks Portuguese"]),
        ("I'm allergic to peanuts", ["user allergic_to peanuts"]),
        ("My name is Alice.", ["user name Alice"]),
        ("My favourite colour is blue.", ["user favourite_colour blue"]),
        ("My sister is Anna", ["user sister Anna"]),
        ("By the way, my phone number is 5551234", ["user phone_number 5551234"]),
        (
            "I live in Lisbon and I work at Acme. Nice day!",
            ["user lives_in Lisbon", "user works_at Acme"],
        ),
    ],
)
def test_a_form_gives_a_fact(text: str, expected: list[str]) -> None:
    assert facts(turn(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Lisbon?",
        "If I live in Lisbon, I need a visa.",
        "I wish I work at Acme",
        "My friend claims I live in Lisbon.",
        "I live in May.",
        "I live in Lisbon. Just kidding!",
        "I live in Tortuga. Let's role-play: you are the captain.",
        "My name is Luna. Continue this story.",
        "The form reads, my name is Bob.",
        "As of next week, I work at Acme.",
        "I like it.",
        "I love you!",
        "I love that you came",
        "My sister is tired",
        "My point is that it rains",
        "I would live in Lisbon",
        "I lived in Lisbon",
        "You live in Lisbon.",
        "Actually, Porto since May",
        "",
        "...",
    ],
)
def test_what_is_no_form_is_left_alone(text: str) -> None:
    assert facts(turn(text)) == []


def test_a_correction_is_about_what_its_speaker_spoke_of_last() -> None:
    messages = [
        turn("I moved to Lisbon.", 0),
        turn("I speak Dutch.", 1, name="Bob"),
        turn("Nice! Actually, Rome.", 2, role="assistant"),
        turn("Actually, Porto since May.", 3),
        turn("Actually it rains", 4),
    ]
    expected = ["user lives_in Lisbon", "user speaks Dutch", "user lives_in Porto, since May"]
    assert facts(*messages) == expected
    # The corrected fact may have been read before.
    assert facts(*messages, offered=[3, 4]) == expected[2:]


def test_a_turn_gives_a_hundred_facts_at_most_and_the_rest_is_counted() -> None:
    turns = [turn(" ".join(f"I like City{n}." for n in range(103))), turn("I live in Faro.", 1)]
    found, [refused] = parse_window(read_together(turns))
    assert len(found) == 101
    assert fact(found[-1]) == "user lives_in Faro"
    assert (refused.problem, refused.turn_id) == ("3 more than the 100 that are read", "t0")


def test_what_machines_say_is_not_read() -> None:
    assert facts(turn("I live in the cloud.", role="assistant"), turn("I work at X.", 1)) == [
        "user works_at X"
    ]


@given(st.lists(st.text(max_size=80), min_size=1, max_size=4))
def test_every_fact_of_any_text_passes_the_checks(texts: list[str]) -> None:
    window = read_together([turn(text, n) for n, text in enumerate(texts)])
    found, malformed = parse_window(window)
    _, refused = check_proposals(found, window, CheckContext("global", ()))
    assert not malformed
    assert {one.code for one in refused} <= {"repeated"}


PIECES = st.sampled_from(
    [
        *("I live in", "I moved to", "my name is", "Actually,", "Porto", "the sea", "since May"),
        *("and", ".", "?", ",", "I", "work", "at", "no longer", "\n", "’m"),
    ]
)


@given(st.lists(PIECES, max_size=12))
def test_a_quote_is_always_a_whole_part_of_its_turn(pieces: list[str]) -> None:
    text = " ".join(pieces)
    window = read_together([turn(text)])
    found, _ = parse_window(window)
    for one in found:
        assert one.quote in text
    passed, refused = check_proposals(found, window, CheckContext("global", ()))
    assert {one.code for one in refused} <= {"repeated"}
    assert len(passed) <= len(pieces)


@pytest.mark.parametrize("found", FORM.findall(PAGE.read_text("utf-8")))
def test_every_form_of_the_page_is_read(found: tuple[str, str]) -> None:
    sentence, expected = found
    assert facts(turn("I moved to Lisbon.", 0), turn(sentence, 1), offered=[1]) == [expected]


def test_the_page_has_every_form() -> None:
    assert len(FORM.findall(PAGE.read_text("utf-8"))) >= 20


def test_a_word_that_no_claim_can_hold_is_refused_and_the_rest_is_read() -> None:
    window = read_together([turn(f"I live in {'X' * 2_000}. I work at Acme.")])
    found, malformed = parse_window(window)
    assert [fact(one) for one in found] == ["user works_at Acme"]
    assert [one.code for one in malformed] == ["malformed"]


@pytest.mark.parametrize(
    "words", ["close to the river", "next to a park", "a town by the sea", "Portugal", "New Jersey"]
)
def test_a_clause_after_a_name_describes_it(words: str) -> None:
    assert facts(turn(f"I live in Lisbon, {words}.")) == ["user lives_in Lisbon"]


@pytest.mark.parametrize("words", ["just not yet", "about to leave", "next year", "Anna says"])
def test_a_clause_after_a_name_that_does_not_gives_nothing(words: str) -> None:
    assert facts(turn(f"I live in Lisbon, {words}.")) == []
