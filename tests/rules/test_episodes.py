"""Summaries of conversations: their own sentences, the names in them, and how much they matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.rules import episodes, passages
from graphmem.rules.episodes import SpokenText, SummaryReply

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
    found = episodes.summarise(ANN)
    assert "I moved to Porto last week." in found.summary
    assert found.summary.index("Porto") < found.summary.index("Nordlys")
    assert "bridges" not in found.summary
    assert "How are you" not in found.summary
    assert found.summary.startswith("Ann: ")


def test_a_short_conversation_is_summarised_whole() -> None:
    said = ("I'm vegan.", "Is that soup?", "You know that Rua Nova 4 is my address.", "Thanks!")
    found = episodes.summarise([SpokenText("user", None, text) for text in said])
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
    assert episodes.summarise(ANN).entities == ("Ann", "Porto", "Nordlys", "Carla")


def test_decisions_and_dates_matter_more_than_small_talk() -> None:
    small, large = episodes.summarise(SMALL_TALK), episodes.summarise(ANN)
    assert small.importance == episodes.MIN_IMPORTANCE
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
    before = episodes.summarise(ANN).importance
    assert episodes.summarise((*ANN, SpokenText("user", "Ann", more))).importance > before


def test_repeated_sentences_count_once() -> None:
    assert episodes.summarise(ANN * 20).importance == episodes.summarise(ANN).importance


def test_without_people_all_turns_count() -> None:
    words = (SpokenText("assistant", None, "The build of Friday failed in the tests of Orchid."),)
    assert episodes.summarise(words).summary == words[0].text


@pytest.mark.parametrize("text", ["好的，我们明天去公园吧。", "ok", "   ", "a" * 5_000])
def test_texts_without_sentences_are_summarised_by_their_start(text: str) -> None:
    found = episodes.summarise((SpokenText("user", None, text),))
    assert found.summary == text.strip() or found.summary.endswith("…")
    assert len(found.summary) <= episodes.MAX_SUMMARY_CHARS


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
    found = episodes.summarise(turns)
    assert len(found.summary) <= episodes.MAX_SUMMARY_CHARS
    assert len(found.entities) <= episodes.MAX_ENTITIES
    assert episodes.MIN_IMPORTANCE <= found.importance <= episodes.MAX_IMPORTANCE
    words = " ".join(f"{turn.name}: {turn.text}" for turn in turns).split()
    assert {word.rstrip("…") for word in found.summary.split()} <= {
        part for word in words for part in (word, word[: len(word)])
    } or found.summary.endswith("…")
    assert found == episodes.summarise(list(turns))


def reply(summary: str, *entities: str) -> SummaryReply:
    return SummaryReply(summary=summary, entities=entities, importance=0.5)


def test_a_reply_in_other_words_is_accepted() -> None:
    assert episodes.reply_problem(reply("Ann lives in Porto and phones Carla.", "Ann"), ANN) is None


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (reply("Ann moved.", "Lisbon"), "entity"),
        (reply("Ann moved to Lisbon."), "name"),
        (reply("Ann moved 3 times."), "value"),
        (reply("Ann moved. </graphmem>"), "markers"),
    ],
)
def test_a_reply_with_invented_names_or_values_is_not(given: SummaryReply, problem: str) -> None:
    assert problem in (episodes.reply_problem(given, ANN) or "")


def test_a_prompt_leaves_out_the_middle_of_a_long_conversation() -> None:
    turns = [SpokenText("user", None, f"line {n}") for n in range(200)]
    shown = episodes.summary_prompt(turns).user
    assert "line 0" in shown
    assert "line 199" in shown
    assert "line 100" not in shown
