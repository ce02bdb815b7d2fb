"""The litellm language model: what it asks, what it reads, what it has repaired, what it costs."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graphmem.errors import ModelReplyError
from graphmem.models import open_llm
from graphmem.ports import Prompt, run_now
from graphmem.settings import Settings
from tests.models.language.conftest import GOOD, VALUE, Colour, Connect
from tests.plugins.chat_service import KEY, ChatService
from tests.plugins.loopback import chain

TEXT = json.dumps(GOOD)

READABLE = {
    "plain": TEXT,
    "spaced": f"\n  {TEXT}\n",
    "fenced": f"```json\n{TEXT}\n```",
    "fenced without a name": f"```\n{TEXT}\n```",
    "fenced with prose": f"Here it is:\n```json\n{TEXT}\n```\nAnything else?",
    "in prose": f"Sure! {TEXT} I hope that helps.",
    "with another key": json.dumps(GOOD | {"because": "it is"}),
}


@pytest.mark.parametrize("raw_reply", READABLE.values(), ids=READABLE)
def test_a_good_reply_is_read_at_once(
    connect: Connect, service: ChatService, raw_reply: str
) -> None:
    service.script([raw_reply])
    answer = connect().ask()
    assert answer.value == VALUE
    assert answer.raw == raw_reply.strip()
    assert answer.model == "openai/some-model"
    assert (answer.requests, answer.tokens_in, answer.tokens_out) == (1, 100, 20)
    [body] = service.bodies
    assert body["temperature"] == 0
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"] == "Which colour?"


UNFIT: dict[str, tuple[str | dict[str, Any] | None, str]] = {
    "half json": (TEXT[:20], "Invalid JSON"),
    "another schema": ({"colour": "teal"}, "name: Field required"),
    "out of range": (GOOD | {"share": 7}, "share: Input should be less than or equal to 1"),
    "not a number": ('{"name": "teal", "share": NaN}', "share: "),
    "a list": ("[1, 2]", "Input should be an object"),
    "two objects": (f"{TEXT}\n{TEXT}", "Invalid JSON"),
    "prose": ("I would say that it is teal.", "Invalid JSON"),
    "a fence around nothing": ("```json\n```", "Invalid JSON"),
    "empty": ("", "it is empty"),
    "white space": (" \n", "it is empty"),
    "nothing": (None, "it is empty"),
    "half a surrogate pair": ('{"name": "\\ud800", "share": 1}', "Invalid JSON"),
    "very deep": ('{"a":' * 5000, "Invalid JSON"),
}


@pytest.mark.parametrize(("raw_reply", "reason"), UNFIT.values(), ids=UNFIT)
def test_a_reply_that_does_not_fit_is_sent_back_with_the_reason(
    connect: Connect, service: ChatService, raw_reply: Any, reason: str
) -> None:
    service.script([service.chat(raw_reply), GOOD])
    answer = connect().ask()
    assert answer.value == VALUE
    assert answer.raw == TEXT
    assert (answer.requests, answer.tokens_in, answer.tokens_out) == (2, 200, 40)
    first, second = service.bodies
    assert second["messages"][:2] == first["messages"]
    shown, repair = second["messages"][2:]
    raw = json.dumps(raw_reply) if isinstance(raw_reply, dict) else (raw_reply or "").strip()
    assert shown == {"role": "assistant", "content": raw[:8_000] or "(nothing)"}
    assert repair["role"] == "user"
    assert reason in repair["content"]


@pytest.mark.parametrize(("raw_reply", "reason"), UNFIT.values(), ids=UNFIT)
def test_a_reply_that_never_fits_is_kept_and_not_shown(
    connect: Connect,
    service: ChatService,
    raw_reply: Any,
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    service.script([service.chat(raw_reply), service.chat(raw_reply), GOOD])
    with caplog.at_level(logging.DEBUG, logger="graphmem"), pytest.raises(ModelReplyError) as e:
        connect().ask()
    assert len(service.bodies) == 2
    raw = json.dumps(raw_reply) if isinstance(raw_reply, dict) else (raw_reply or "").strip()
    assert e.value.raw == raw
    assert e.value.code == "model_reply"
    assert "GRAPHMEM_MODEL" in e.value.hint
    assert reason in str(e.value)
    assert "teal" not in str(e.value) + repr(e.value) + caplog.text
    assert {type(link).__module__ for link in chain(e.value)} == {"graphmem.errors"}


def test_only_the_beginning_of_a_long_reply_is_sent_back(
    connect: Connect, service: ChatService
) -> None:
    service.script(["x" * 100_000] * 2)
    with pytest.raises(ModelReplyError) as e:
        connect().ask()
    assert len(service.bodies[1]["messages"][2]["content"]) == 8_000
    assert len(e.value.raw) == 100_000
    assert len(str(e.value)) < 400


def test_the_schema_is_sent_strict(connect: Connect, service: ChatService) -> None:
    service.script([GOOD])
    connect().ask()
    assert service.bodies[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "Colour",
            "strict": True,
            "schema": {
                "type": "object",
                "description": "Reply format of these tests.",
                "properties": {
                    "name": {"type": "string"},
                    "share": {"type": "number"},
                    "near": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["name", "share", "near"],
                "additionalProperties": False,
            },
        },
    }


def forms(service: ChatService) -> list[str | None]:
    return [service.form(body) for body in service.bodies]


def test_a_form_that_is_refused_is_asked_for_once(connect: Connect, service: ChatService) -> None:
    service.refuses = frozenset({"json_schema", "described_object"})
    service.script([GOOD] * 3)
    talk = connect()
    assert talk.ask().requests == 3
    assert talk.ask().requests == 1
    assert connect().ask().requests == 1
    assert forms(service) == ["json_schema", "described_object", *["json_object"] * 3]


def test_a_form_may_be_refused_as_if_the_service_had_failed(
    connect: Connect, service: ChatService
) -> None:
    """As llama-cpp-python's server does, 0.3.36: an error 500 that names what it does not take."""
    service.refuses, service.refusal = frozenset({"json_schema"}), 500
    service.script([GOOD])
    assert connect().ask().requests == 2
    assert forms(service) == ["json_schema", "described_object"]


def test_another_model_of_the_same_service_may_take_it(
    connect: Connect, service: ChatService
) -> None:
    service.refuses = frozenset({"json_schema"})
    service.script([GOOD] * 2)
    connect().ask()
    assert connect(model="openai/another-model").ask().requests == 2


def test_a_service_that_takes_no_form_gets_words_alone(
    connect: Connect, service: ChatService
) -> None:
    service.refuses = frozenset({"json_schema", "described_object", "json_object"})
    service.script([GOOD])
    assert connect().ask().requests == 4
    assert set(service.bodies[-1]) == {"model", "messages"}


def test_a_refusal_of_something_else_is_not_remembered(
    connect: Connect, service: ChatService
) -> None:
    service.script([service.status(400)] * 4 + [GOOD])
    talk = connect()
    with pytest.raises(ModelReplyError):
        talk.ask()
    talk.ask()
    assert forms(service)[-1] == "json_schema"


def test_a_model_without_temperature_is_asked_without(
    connect: Connect, service: ChatService
) -> None:
    service.script([GOOD])
    connect(model="openai/gpt-5-mini").ask()
    [body] = service.bodies
    assert "temperature" not in body
    assert body["response_format"]["type"] == "json_schema"


def test_the_price_is_of_all_answered_requests(connect: Connect, service: ChatService) -> None:
    """gpt-4o-mini: $0.15 a million tokens in, $0.60 out."""
    service.script(["prose", service.status(500), service.chat(GOOD, sent=1000, received=50)])
    answer = connect(model="openai/gpt-4o-mini").ask()
    assert (answer.requests, answer.tokens_in, answer.tokens_out) == (3, 1100, 70)
    assert answer.cost_usd == pytest.approx((1100 * 0.15 + 70 * 0.60) / 1e6)


def test_a_price_that_nobody_knows_is_none(connect: Connect, service: ChatService) -> None:
    service.script([GOOD])
    assert connect().ask().cost_usd is None


def test_tokens_that_nobody_counted_have_no_price(connect: Connect, service: ChatService) -> None:
    service.script([service.chat("prose"), service.chat(GOOD, sent=None)])
    answer = connect(model="openai/gpt-4o-mini").ask()
    assert (answer.tokens_in, answer.tokens_out, answer.cost_usd) == (100, 20, None)


def test_many_may_ask_at_once(connect: Connect, service: ChatService) -> None:
    service.always = lambda messages: GOOD | {"name": messages[-1]["content"]}
    talk = connect()
    names = [f"colour {n}" for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        assert [a.value.name for a in pool.map(talk.ask, names)] == names


def test_the_loop_goes_on_while_the_model_thinks(service: ChatService) -> None:
    llm = open_llm(
        Settings.load({}, model="openai/m", model_url=service.url, model_key=KEY), awaited=True
    )
    assert llm is not None
    entered = asyncio.Event()

    async def both() -> str:
        loop = asyncio.get_running_loop()

        def slow(messages: list[dict[str, str]]) -> dict[str, Any]:
            loop.call_soon_threadsafe(entered.set)
            return GOOD

        service.always = slow
        asking = asyncio.create_task(llm.answer(Prompt("n", "s", "u", Colour)))
        await asyncio.sleep(0)
        assert not asking.done()
        await entered.wait()
        return (await asking).value.name

    assert asyncio.run(both()) == "teal"


def test_the_blocking_one_never_suspends(service: ChatService) -> None:
    service.script([service.status(500), GOOD])
    llm = open_llm(
        Settings.load({}, model="openai/m", model_url=service.url, model_key=KEY), awaited=False
    )
    assert llm is not None
    assert llm.name == "openai/m"
    assert run_now(llm.answer(Prompt("n", "s", "u", Colour))).value == VALUE


def test_without_a_setting_there_is_none() -> None:
    assert open_llm(Settings(), awaited=False) is None
    assert open_llm(Settings(model_url="nonsense"), awaited=True) is None


def test_nothing_is_imported_or_called_before_it_is_used() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "from graphmem.models import open_llm\n"
        "assert not {'pydantic', 'numpy', 'asyncio'} & set(sys.modules) - before, 'early'\n"
        "from graphmem.settings import Settings\n"
        "assert open_llm(Settings(), awaited=False) is None\n"
        "assert 'graphmem.models.language' not in sys.modules\n"
        "for awaited in (False, True):\n"
        "    assert open_llm(Settings(model='openai/x'), awaited=awaited)\n"
        "assert 'litellm' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
