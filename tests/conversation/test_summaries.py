"""The prompt for a summary of a conversation, and the check of a model's reply."""

from __future__ import annotations

import pytest

from graphmem.conversation import summaries
from graphmem.conversation.summaries import SummaryReply
from graphmem.english.summaries import SpokenText

ANN = (
    SpokenText("user", "Ann", "I moved to Porto last week."),
    SpokenText("user", "Ann", "I'll call Carla by Friday."),
)


def reply(summary: str, *entities: str) -> SummaryReply:
    return SummaryReply(summary=summary, entities=entities, importance=0.5)


def test_a_reply_in_other_words_is_accepted() -> None:
    assert (
        summaries.reply_problem(reply("Ann lives in Porto and phones Carla.", "Ann"), ANN) is None
    )


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
    assert problem in (summaries.reply_problem(given, ANN) or "")


def test_a_prompt_leaves_out_the_middle_of_a_long_conversation() -> None:
    turns = [SpokenText("user", None, f"line {n}") for n in range(200)]
    shown = summaries.summary_prompt(turns).user
    assert "line 0" in shown
    assert "line 199" in shown
    assert "line 100" not in shown
