"""The scripted language model for users' tests."""

from __future__ import annotations

from typing import Any

import pytest

from graphmem.errors import ModelReplyError, ModelUnavailableError
from graphmem.ports import Llm, Prompt, run_now
from graphmem.testing import ScriptedLlm
from tests.models.language.conftest import GOOD, VALUE, Colour

PROMPT = Prompt("colour", "Answer with JSON.", "Which colour?", Colour)


def ask(llm: Llm, prompt: Prompt[Colour] = PROMPT) -> Colour:
    return run_now(llm.answer(prompt)).value


@pytest.mark.parametrize(
    "reply", [VALUE, GOOD, VALUE.model_dump_json(), f"```\n{VALUE.model_dump_json()}\n```"]
)
def test_a_reply_may_be_a_record_a_mapping_or_a_text(reply: Any) -> None:
    llm = ScriptedLlm([reply])
    assert ask(llm) == VALUE
    assert llm.prompts == [PROMPT]
    assert llm.name == "scripted"


def test_replies_come_in_their_order_and_end() -> None:
    llm = ScriptedLlm(iter([GOOD, GOOD | {"name": "plum"}]), name="mine")
    assert [ask(llm).name, ask(llm).name] == ["teal", "plum"]
    with pytest.raises(ModelUnavailableError, match="used up"):
        ask(llm)
    assert len(llm.prompts) == 3
    assert llm.name == "mine"


def test_a_callable_sees_the_prompt() -> None:
    llm = ScriptedLlm(lambda prompt: GOOD | {"name": prompt.user[6:12]})
    assert ask(llm).name == "colour"


def test_an_error_is_raised_and_the_next_reply_follows() -> None:
    llm = ScriptedLlm([ModelUnavailableError("gone"), GOOD])
    with pytest.raises(ModelUnavailableError, match="gone"):
        ask(llm)
    assert ask(llm) == VALUE


@pytest.mark.parametrize("reply", ["prose", "", {"colour": "teal"}])
def test_a_reply_that_does_not_fit_is_not_repaired(reply: Any) -> None:
    llm = ScriptedLlm([reply, GOOD])
    with pytest.raises(ModelReplyError) as e:
        ask(llm)
    assert e.value.raw == (reply if isinstance(reply, str) else '{"colour": "teal"}')
    assert len(llm.prompts) == 1


def test_an_answer_counts_one_request() -> None:
    answer = run_now(ScriptedLlm([GOOD]).answer(PROMPT))
    assert (answer.model, answer.requests) == ("scripted", 1)
    assert (answer.tokens_in, answer.tokens_out, answer.cost_usd) == (100, 10, 0.0)
