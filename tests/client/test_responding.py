"""respond: one call for a turn of a conversation, with a model on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    convert_to_openai_messages,
)
from openai import OpenAI
from openai.types.chat import ChatCompletion

from graphmem import AsyncGraphMem, Handle, Message, PromptMessages, Settings
from graphmem.conversation import blocks
from graphmem.errors import InvalidInputError, ModelUnavailableError
from graphmem.testing import HashEmbedder, ScriptedLlm
from tests.plugins.chat_service import KEY, ChatService
from tests.plugins.clients import Door
from tests.plugins.offers import LISBON

ASKED = "Where do I live?"
HOME = "I live in Lisbon."


def answer(messages: list[dict[str, Any]]) -> str:
    """Answer as a model does that reads the block, and nothing else."""
    blocks = [m["content"] for m in messages if m["role"] == "system"]
    return "In Lisbon." if any(HOME in str(block) for block in blocks) else "I do not know."


@pytest.fixture
def service() -> Iterator[ChatService]:
    with ChatService.opened() as opened:
        opened.always = answer
        yield opened


def with_openai(service: ChatService) -> tuple[Callable[[str], Any], Callable[[Any], Any]]:
    client = OpenAI(base_url=service.url, api_key=KEY, max_retries=0)

    def complete(messages: PromptMessages) -> ChatCompletion:
        return client.chat.completions.create(model="m", messages=messages)

    return lambda text: {"role": "user", "content": text}, complete


def with_langchain(service: ChatService) -> tuple[Callable[[str], Any], Callable[[Any], Any]]:
    client = OpenAI(base_url=service.url, api_key=KEY, max_retries=0)

    def complete(messages: PromptMessages) -> AIMessage:
        sent = convert_to_openai_messages(messages)
        made = client.chat.completions.create(model="m", messages=sent)  # type: ignore[arg-type]
        return AIMessage(made.choices[0].message.content or "")

    return HumanMessage, complete


def with_anthropic(service: ChatService) -> tuple[Callable[[str], Any], Callable[[Any], Any]]:
    """Send the block apart from the messages, as Anthropic's API takes it."""

    def reply(messages: list[dict[str, Any]]) -> Any:
        block = {"role": "system", "content": service.bodies[-1]["system"]}
        thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
        content = [thinking, {"type": "text", "text": answer([block, *messages])}]
        return {"type": "message", "id": "msg_1", "role": "assistant", "content": content}

    service.behave = lambda body: service.text(  # type: ignore[method-assign]
        json.dumps(reply(body["messages"])).encode()
    )

    def complete(messages: PromptMessages) -> Any:
        body = {"model": "m", "system": messages.system, "messages": messages.messages}
        return httpx.post(f"{service.url}/messages", json=body).json()

    return lambda text: {"role": "user", "content": [{"type": "text", "text": text}]}, complete


@pytest.mark.usefixtures("both_clients")
@pytest.mark.parametrize("library", [with_openai, with_langchain, with_anthropic])
def test_a_model_is_reminded_of_another_conversation(
    memory: Handle, service: ChatService, library: Any
) -> None:
    user, complete = library(service)
    with memory.session("monday") as s:
        first = s.respond([user(HOME)], complete)
    assert first.text == "I do not know.", "its own messages are not shown to it again"
    with memory.session("tuesday") as s:
        given = [user(ASKED)]
        done = s.respond(given, complete)
        turns = s.episodes.turns(s.episode_id).turns
    assert done.text == "In Lisbon."
    assert HOME in done.context.text
    assert [(t.role, t.text) for t in turns] == [("user", ASKED), ("assistant", "In Lisbon.")]
    assert done.receipt.turn_ids == tuple(turn.id for turn in turns)
    assert (done.receipt.added, given) == (2, [user(ASKED)])
    sent = service.bodies[-1]["messages"]
    words = [str(m["content"]) for m in sent if m["role"] == "user"]
    assert not any(blocks.OPEN in text for text in words), "never in the user's words"


def test_a_conversation_continues_and_is_stored_once(memory: Handle) -> None:
    talk: list[Any] = []
    with memory.session("s") as s:
        for n in range(3):
            talk.append({"role": "user", "content": f"question {n}"})
            done = s.respond(talk, lambda m: f"answer {len(m.messages)}")
            talk.append({"role": "assistant", "content": done.text})
            assert done.receipt.added == 2
        turns = s.episodes.turns(s.episode_id).turns
    assert [t.text for t in turns] == [m["content"] for m in talk]


class ModelDownError(Exception):
    """An error of a caller's own."""


@pytest.mark.usefixtures("both_clients")
def test_a_failure_leaves_the_messages_stored_once(memory: Handle) -> None:
    error = ModelDownError("down")

    def fail(_: PromptMessages) -> str:
        raise error

    asked = [{"role": "user", "content": ASKED}]
    session = memory.session("s")
    for _ in range(2):
        with pytest.raises(ModelDownError) as caught:
            session.respond(asked, fail)
        assert caught.value is error
    done = session.respond(asked, lambda _: "Nowhere.")
    texts = [t.text for t in session.episodes.turns(session.episode_id).turns]
    assert (texts, done.receipt.added) == ([ASKED, "Nowhere."], 1)
    longer = [
        *asked,
        {"role": "assistant", "content": "Nowhere."},
        {"role": "user", "content": "?"},
    ]
    session.respond(longer, lambda _: "Sorry.")
    # The caller did not get the reply and asks again.
    again = session.respond(longer, lambda _: "Sorry.")
    texts = [t.text for t in session.episodes.turns(session.episode_id).turns]
    assert (texts, again.receipt.added) == ([ASKED, "Nowhere.", "?", "Sorry."], 0)


def noting(seen: list[PromptMessages], reply: str) -> Callable[[PromptMessages], str]:
    """Return a model that appends its messages to `seen`."""

    def complete(messages: PromptMessages) -> str:
        seen.append(messages)
        return reply

    return complete


OPENAI_SDK = {"role": "user", "content": ASKED}
SHAPES: list[tuple[list[Any], Any]] = [
    ([OPENAI_SDK], {"role": "system"}),
    ([{"role": "developer", "content": "Be brief."}, OPENAI_SDK], {"role": "developer"}),
    ([{"role": "system", "content": "Be brief."}, OPENAI_SDK], {"role": "system"}),
    ([Message(role="user", content=ASKED)], Message(role="system", content="x")),
    ([HumanMessage(ASKED)], SystemMessage("x")),
    ([SystemMessage("Be brief."), HumanMessage(ASKED)], SystemMessage("x")),
    ([{"type": "human", "content": ASKED}], {"type": "system"}),
    (
        [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": ASKED}]}],
        {"kind": "request"},
    ),
]


@pytest.mark.parametrize(("given", "like"), SHAPES)
def test_the_block_is_a_message_of_the_system_like_the_others(
    memory: Handle, given: list[Any], like: Any
) -> None:
    memory.remember("The user lives in Lisbon.")
    seen: list[PromptMessages] = []
    with memory.session("s") as s:
        done = s.respond(given, noting(seen, "Lisbon."))
        assert done.context.ids
        turns = s.episodes.turns(s.episode_id).turns
    [sent] = seen
    assert (sent.system, sent.messages) == (done.context.text, given)
    place = len(given) - 1
    added = sent[place]
    assert [*sent[:place], *sent[place + 1 :]] == given
    assert type(added) is type(like)
    if isinstance(like, dict):
        assert like.items() <= added.items()
    assert done.context.text in str(added) or done.context.text in repr(added).replace("\\n", "\n")
    assert len(turns) == len(given) + 1, "the block is not stored"


@pytest.mark.parametrize(("given", "like"), SHAPES)
def test_a_prompt_has_one_block(memory: Handle, given: list[Any], like: Any) -> None:
    """A framework may keep the messages of an earlier call with their block."""
    memory.remember("The user lives in Lisbon.")
    seen: list[PromptMessages] = []
    with memory.session("s") as s:
        s.respond(given, noting(seen, "Lisbon."))
        s.respond([*seen[0], *given[-1:]], noting(seen, "Still Lisbon."))
    assert repr(list(seen[1])).count(blocks.OPEN) == 1
    assert type(seen[1][len(given) - 1]) is type(like)


def test_nothing_is_added_if_nothing_is_remembered(memory: Handle) -> None:
    seen: list[PromptMessages] = []
    asked = [{"role": "user", "content": ASKED}]
    with memory.session("s") as s:
        done = s.respond(asked, noting(seen, "I do not know."))
        assert (seen, seen[0].system, done.context.reason) == (
            [asked],
            "",
            "nothing matches but the question itself",
        )
        result = {"role": "tool", "content": "42", "tool_call_id": "c"}
        assert s.respond([result], lambda _: "Noted.").context.reason == "no person asks anything"


def test_what_was_shown_and_returned_is_not_evidence(memory: Handle) -> None:
    memory.remember(HOME)
    rules = "rules"
    with memory.session("s") as s:
        # The model repeats what it was shown, and its framework returns every message.
        done = s.respond(
            [{"role": "user", "content": ASKED}],
            lambda m: [*m, {"role": "assistant", "content": HOME}],
        )
        assert HOME in done.context.text
        assert done.receipt.skipped == 1, "the block"
        roles = [t.role for t in s.episodes.turns(s.episode_id).turns]
        assert roles == ["user", "assistant"]
        assert s.extract(extractor=rules).proposals == ()  # type: ignore[arg-type]
        # A model that poses as the user does not become one.
        s.respond(
            [{"role": "user", "content": "And?"}], lambda _: {"role": "user", "content": HOME}
        )
        assert [t.role for t in s.episodes.turns(s.episode_id).turns][-1] == "assistant"
        assert s.extract(extractor=rules).proposals == ()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("In Lisbon.", "In Lisbon."),
        ({"content": "In Lisbon."}, "In Lisbon."),
        ({"role": "assistant", "content": "In Lisbon."}, "In Lisbon."),
        (Message(role="assistant", content="In Lisbon."), "In Lisbon."),
        (AIMessage("In Lisbon."), "In Lisbon."),
        ({"choices": [{"message": {"role": "assistant", "content": "In Lisbon."}}]}, "In Lisbon."),
        (
            SimpleNamespace(
                output=[
                    SimpleNamespace(type="reasoning", summary=[]),
                    SimpleNamespace(
                        type="message",
                        role="assistant",
                        content=[SimpleNamespace(type="output_text", text="In Lisbon.")],
                    ),
                ]
            ),
            "In Lisbon.",
        ),
        ({"messages": [HumanMessage(ASKED), AIMessage("In Lisbon.")]}, "In Lisbon."),
        (
            SimpleNamespace(
                output="In Lisbon.",
                new_messages=lambda: [
                    SimpleNamespace(
                        kind="response",
                        parts=[SimpleNamespace(part_kind="text", content="In Lisbon.")],
                    )
                ],
            ),
            "In Lisbon.",
        ),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "map", "arguments": "{}"}}]},
            "[tool call map()]",
        ),
    ],
)
def test_a_reply_has_any_shape(memory: Handle, reply: Any, text: str) -> None:
    with memory.session("s") as s:
        done = s.respond([{"role": "user", "content": ASKED}], lambda _: reply)
        turns = [t.text for t in s.episodes.turns(s.episode_id).turns]
    assert (done.text, turns) == (text, [ASKED, text])
    assert done.reply is reply


@pytest.mark.parametrize("reply", [None, 5, object(), {"role": 5, "content": "x"}, [5]])
def test_what_is_not_a_reply_is_refused(memory: Handle, reply: Any) -> None:
    session = memory.session("s")
    with pytest.raises(InvalidInputError, match="complete: the reply is not a message"):
        session.respond([{"role": "user", "content": ASKED}], lambda _: reply)
    assert len(session.episodes.turns(session.episode_id).turns) == 1


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"tokens": 10}, "tokens"),
        ({"kinds": "turn"}, "kinds"),
        ({"extract": 1}, "extract"),
        ({"count_tokens": 5}, "count_tokens"),
        ({"roles": {"x": "y"}}, "roles"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_stored(
    memory: Handle, wrong: dict[str, Any], named: str
) -> None:
    session = memory.session("s")
    with pytest.raises(InvalidInputError, match=named):
        session.respond([{"role": "user", "content": ASKED}], lambda _: "x", **wrong)
    with pytest.raises(InvalidInputError, match="complete"):
        session.respond([{"role": "user", "content": ASKED}], "model")  # type: ignore[arg-type]
    assert session.episodes.turns(session.episode_id).turns == ()


def test_roles_tokens_and_turns_are_passed_on(memory: Handle) -> None:
    memory.session("other").add_messages([{"role": "user", "content": HOME}])
    memory.remember("The user lives in Lisbon.")
    asked = [{"role": "customer", "content": ASKED}]
    with memory.session("s") as s:
        done = s.respond(asked, lambda _: "x", roles={"customer": "user"}, count_tokens=len)
        assert done.context.tokens == len(done.context.text) <= 800
        assert [i[0] for i in done.context.ids] in (["m", "t"], ["t", "m"])
    with memory.session("s2") as s:
        done = s.respond(
            asked, lambda _: "x", roles={"customer": "user"}, kinds=("memory", "belief")
        )
        assert [i[0] for i in done.context.ids] == ["m"]


@pytest.mark.usefixtures("both_clients")
def test_evidence_is_extracted_at_the_close(door: Door, memory: Handle) -> None:
    said = [{"role": "user", "content": "I moved to Lisbon."}]
    llm = ScriptedLlm([LISBON])
    modelled = door.on(memory, llm=llm)
    with modelled.session("kept") as s:
        s.respond(said, lambda _: "Nice.", extract=False)
    with modelled.session("plain") as s:
        s.add_messages(said)
    assert llm.prompts == []
    with modelled.session("s") as s:
        s.respond(said, lambda _: "Nice.")
        assert llm.prompts == []
    assert len(llm.prompts) == 1
    leader = memory.current("user", "lives_in").leader
    assert leader is not None
    assert leader.object == "Lisbon"


def test_a_failed_extraction_does_not_hide_the_reply(
    door: Door, memory: Handle, caplog: pytest.LogCaptureFixture
) -> None:
    away = door.on(memory, llm=ScriptedLlm(lambda _: ModelUnavailableError()))
    with caplog.at_level(logging.WARNING, "graphmem"), away.session("s") as s:
        s.respond([{"role": "user", "content": "I moved to Lisbon."}], lambda _: "Nice.")
    assert "Not all turns of session 's' were read" in caplog.text
    back = door.on(memory, llm=ScriptedLlm([LISBON]))
    assert len(back.extract(session_id="s").proposals) == 1


def test_a_coroutine_function_is_awaited_by_the_async_client_only(
    memory: Handle, migrated: Settings, tenant: str
) -> None:
    asked = [{"role": "user", "content": ASKED}]

    async def complete(messages: PromptMessages) -> str:
        await asyncio.sleep(0)
        return f"{len(messages)} messages"

    async def main() -> None:
        async with (
            await AsyncGraphMem.open(settings=migrated, embedder=HashEmbedder()) as opened,
            opened.tenant(tenant).session("a") as s,
        ):
            done = await s.respond(asked, complete)
            turns = (await s.episodes.turns(s.episode_id)).turns
        assert done.text == "1 messages"
        assert [t.text for t in turns] == [ASKED, "1 messages"]

    asyncio.run(main())
    if isinstance(memory, Handle):
        with pytest.raises(InvalidInputError, match="coroutine function"):
            memory.session("b").respond(asked, complete)
