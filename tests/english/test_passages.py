"""Passages that can become beliefs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.english import passages
from graphmem.english.passages import Passage

AT = datetime(2026, 3, 1, tzinfo=UTC)


def make_passage(text: str, name: str | None = "Ada") -> Passage:
    return Passage("t_1", "Turn", "ep_1", name, text, AT)


@pytest.mark.parametrize(
    ("text", "informative"),
    [
        ("Hi! How are you? I went to the pool today.", "I went to the pool today."),
        ("Thanks, see you!", ""),
        ("Do you like it over there?", ""),
        ("You look so happy in that picture! We went there in May.", "We went there in May."),
        ("Thanks a lot for listening to me.", ""),
        ("今日はプールに行きましたか？", ""),
        ("I swim every single morning.\nAnd you, do you swim?", "I swim every single morning."),
        ("", ""),
    ],
)
def test_questions_and_greetings_tell_nothing(text: str, informative: str) -> None:
    assert passages.informative_sentences(text) == informative
    assert bool(passages.extractive_statement(make_passage(text))) == bool(informative)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hi! I moved to Ghent. Thanks! And you?", "I moved to Ghent."),
        ("I moved. Wow! The flat is small. Great!", "I moved. Wow! The flat is small."),
        ("Sounds great! Shall I book it for Friday?", "Shall I book it for Friday?"),
        ("Great! 9 May it is.", "9 May it is."),
        ("Wow, James! I saw it. Thanks, Ben!", "I saw it."),
        ("Hey, it is 9:30! I go.", "Hey, it is 9:30! I go."),
        ("Thanks, Ben!", "Thanks, Ben!"),
        ("Hello! How are you?", "Hello! How are you?"),
        ("  ", "  "),
        ("She died. Wow.", "She died."),
    ],
)
def test_greetings_and_empty_questions_at_the_ends_are_not_shown(text: str, shown: str) -> None:
    assert passages.stating_part(text) == shown


@given(st.lists(st.sampled_from(["Hi!", "I swim.", "And you?", "Ben is 9.", "Wow.", "\n"])))
def test_what_is_shown_is_a_part_and_states_as_much(sentences: list[str]) -> None:
    text = " ".join(sentences)
    part = passages.stating_part(text)
    assert part in text
    assert passages.states_something(part) == passages.states_something(text)
    assert passages.stating_part(part) == part
    assert all(one in part for one in ("I swim.", "Ben is 9.") if one in text) or part == text


def test_a_statement_names_its_speaker_and_keeps_whole_sentences() -> None:
    first, second = "I swim every single morning.", "It keeps me sane and " + "very " * 60 + "calm."
    assert passages.extractive_statement(make_passage(f"{first} {second}")) == f"Ada: {first}"
    assert passages.extractive_statement(make_passage(first, None)) == first


@given(st.text(max_size=2_000))
def test_a_statement_is_short_and_quotes_its_passage(text: str) -> None:
    made = passages.extractive_statement(make_passage(text, None))
    assert len(made) <= passages.MAX_STATEMENT_CHARS
    if made:
        kept = made.removesuffix("…")
        assert " ".join(kept.split()) in " ".join(text.split())


def test_a_first_sentence_that_is_too_long_is_cut_between_words() -> None:
    made = passages.extractive_statement(make_passage("word " * 200, None))
    assert made.endswith("word…")
    assert len(made) <= passages.MAX_STATEMENT_CHARS


def test_an_episode_quotes_no_turn() -> None:
    assert make_passage("x").turn_id == "t_1"
    assert Passage("ep_1", "Episode", "ep_1", None, "x", AT).turn_id is None
