"""Summaries of conversations: their own sentences, the names in them, and how much they matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.english import passages, summaries
from graphmem.english.summaries import SpokenText

ANN = (
    SpokenText("user", "Ann", "Hi! How are you today? I moved to Porto last week."),
    SpokenText("assistant", None, "Congratulations! Porto is a beautiful city with many bridges."),
    SpokenText("user", "Ann", "I decided to keep my job at Nordlys. The weather is nice."),
    SpokenText("user", "Ann", "Actually, I no longer drive. I'll call Carla by Friday."),
)
SMALL_TALK = tuple(
    SpokenText("user", "Ann", text)
    for text in ("Hi there, good morning.", "That sounds really lovely to me.", "Good night then.")
)


def test_a_summary_has_sentences_of_people_in_their_order() -> None:
    found = summaries.summarise(ANN)
    assert "I moved to Porto last week." in found.summary
    assert found.summary.index("Porto") < found.summary.index("Nordlys")
    assert "bridges" not in found.summary
    assert "How are you" not in found.summary
    assert found.summary.startswith("Ann: ")


def test_a_short_conversation_is_summarised_whole() -> None:
    said = ("I'm vegan.", "Is that soup?", "You know that Rua Nova 4 is my address.", "Thanks!")
    found = summaries.summarise([SpokenText("user", None, text) for text in said])
    assert found.summary == "I'm vegan. You know that Rua Nova 4 is my address."


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("Is it far?", False),
        ("Thanks, that was very good!", False),
        ("Hello again. How long do lentils take?", False),
        ("🙂", False),
        ("", False),
        ("I'm vegan.", True),
        ("Rua Nova 4.", True),
        ("Thanks! The key is under the pot.", True),
        ("Can you call Carla?", True),
        ("Is 4 pm fine?", True),
        ("Did you know that I moved?", True),
        ("私は京都に住んでいます。", True),
        ("Живу в Риге", True),
        ("print(rate)", True),
    ],
)
def test_what_may_state_something(text: str, *, states: bool) -> None:
    assert passages.states_something(text) is states


def test_entities_are_speakers_and_then_names() -> None:
    assert summaries.summarise(ANN).entities == ("Ann", "Porto", "Nordlys", "Carla")


def test_decisions_and_dates_matter_more_than_small_talk() -> None:
    small, large = summaries.summarise(SMALL_TALK), summaries.summarise(ANN)
    assert small.importance == summaries.MIN_IMPORTANCE
    assert large.importance > 0.5


@pytest.mark.parametrize(
    "more",
    [
        "Actually it starts at the other entrance.",
        "We agreed on the smaller room.",
        "I will bring the blue folder.",
        "It was cancelled yesterday by the host.",
    ],
)
def test_a_correction_decision_commitment_or_date_adds(more: str) -> None:
    before = summaries.summarise(ANN).importance
    assert summaries.summarise((*ANN, SpokenText("user", "Ann", more))).importance > before


def test_repeated_sentences_count_once() -> None:
    assert summaries.summarise(ANN * 20).importance == summaries.summarise(ANN).importance


def test_without_people_all_turns_count() -> None:
    words = (SpokenText("assistant", None, "The build of Friday failed in the tests of Orchid."),)
    assert summaries.summarise(words).summary == words[0].text


@pytest.mark.parametrize("text", ["好的，我们明天去公园吧。", "ok", "   ", "a" * 5_000])
def test_texts_without_sentences_are_summarised_by_their_start(text: str) -> None:
    found = summaries.summarise((SpokenText("user", None, text),))
    assert found.summary == text.strip() or found.summary.endswith("…")
    assert len(found.summary) <= summaries.MAX_SUMMARY_CHARS


TURNS = st.lists(
    st.builds(
        SpokenText,
        st.sampled_from(["user", "assistant"]),
        st.sampled_from([None, "Ann", "Bo Lee"]),
        st.text(max_size=200) | st.sampled_from([turn.text for turn in ANN]),
    ),
    max_size=12,
)


@given(TURNS)
def test_any_conversation_has_a_bounded_summary_of_its_own_words(turns: list[SpokenText]) -> None:
    found = summaries.summarise(turns)
    assert len(found.summary) <= summaries.MAX_SUMMARY_CHARS
    assert len(found.entities) <= summaries.MAX_ENTITIES
    assert summaries.MIN_IMPORTANCE <= found.importance <= summaries.MAX_IMPORTANCE
    words = " ".join(f"{turn.name}: {turn.text}" for turn in turns).split()
    assert {word.rstrip("…") for word in found.summary.split()} <= {
        part for word in words for part in (word, word[: len(word)])
    } or found.summary.endswith("…")
    assert found == summaries.summarise(list(turns))
