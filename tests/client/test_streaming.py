"""respond with a model that answers in parts; and citations, which count as opened."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from graphmem import AsyncGraphMem, GraphMem, Message, PromptMessages, Settings
from graphmem.client import Handle, ReplyStream
from graphmem.conversation.messages import MessageReader
from graphmem.errors import InvalidInputError
from graphmem.testing import HashEmbedder
from tests.plugins.graph import Look

HOME = "I live in Lisbon."
ASKED = [{"role": "user", "content": "Where do I live?"}]
PARTS = ["In ", "Lis", "bon."]


@pytest.fixture
def memory(client: GraphMem, tenant: str) -> Handle:
    """A handle of the blocking client: its streams are iterated over in another way."""
    return client.tenant(tenant)


def in_parts(_: PromptMessages) -> Iterator[str]:
    yield from PARTS


def turns(session: Any) -> list[tuple[str, str]]:
    return [(t.role, t.text) for t in session.episodes.turns(session.episode_id).turns]


WHOLE = [("user", ASKED[0]["content"]), ("assistant", "In Lisbon.")]


def test_parts_come_as_the_model_gives_them_and_the_reply_is_stored_at_the_end(
    memory: Handle,
) -> None:
    memory.remember(HOME)
    with memory.session("s") as session:
        stream = session.respond(ASKED, in_parts)
        assert isinstance(stream, ReplyStream)
        assert HOME in stream.context.text
        assert turns(session) == WHOLE[:1]
        with pytest.raises(InvalidInputError, match="not stored"):
            _ = stream.receipt
        assert next(stream) == "In "
        assert list(stream) == PARTS[1:]
        assert list(stream) == []
        assert (stream.text, stream.reply) == ("In Lisbon.", "In Lisbon.")
        assert turns(session) == WHOLE
        assert stream.receipt.added == 2


@pytest.mark.parametrize("way", ["close", "with", "end of the session"])
def test_what_was_taken_is_stored_if_the_consumer_stops(memory: Handle, way: str) -> None:
    stopped: list[str] = []

    def endless(_: PromptMessages) -> Iterator[str]:
        try:
            while True:
                yield "on and "
        finally:
            stopped.append("yes")

    with memory.session("s") as session:
        stream = session.respond(ASKED, endless)
        assert isinstance(stream, ReplyStream)
        for part in stream:
            assert part == "on and "
            break
        if way == "close":
            stream.close()
            stream.close()
        elif way == "with":
            with stream:
                assert next(stream) == "on and "
        if way != "end of the session":
            assert list(stream) == []
            assert stopped == ["yes"], "the model's stream is closed"
    text = "on and on and" if way == "with" else "on and"
    assert [(role, found.strip()) for role, found in turns(session)] == [
        WHOLE[0],
        ("assistant", text),
    ]


def test_a_stream_of_which_nothing_was_taken_stores_no_reply(memory: Handle) -> None:
    with memory.session("s") as session:
        session.respond(ASKED, in_parts)
        gc.collect()
    assert turns(session) == WHOLE[:1]
    session.respond(ASKED, lambda _: "In Lisbon.")
    assert turns(session) == WHOLE


class ModelDownError(Exception):
    """An error of a caller's own."""


def test_a_model_that_fails_midway_leaves_the_messages_stored_once(memory: Handle) -> None:
    def failing(_: PromptMessages) -> Iterator[str]:
        yield "In "
        raise ModelDownError

    with memory.session("s") as session:
        for _ in range(2):
            with pytest.raises(ModelDownError):
                list(session.respond(ASKED, failing))
        assert turns(session) == WHOLE[:1]
        assert "".join(session.respond(ASKED, in_parts)) == "In Lisbon."  # type: ignore[arg-type]
    assert turns(session) == WHOLE


@pytest.mark.parametrize("part", [5, None, b"x", {"content": "x"}])
def test_a_part_must_be_a_text(memory: Handle, part: Any) -> None:
    session = memory.session("s")
    stream = session.respond(ASKED, lambda _: iter(["In ", part]))
    assert isinstance(stream, ReplyStream)
    assert next(stream) == "In "
    with pytest.raises(InvalidInputError, match="each part"):
        next(stream)
    assert list(stream) == []
    assert turns(session) == WHOLE[:1]


async def later(_: PromptMessages) -> AsyncIterator[str]:
    for part in PARTS:
        await asyncio.sleep(0)
        yield part


def test_an_async_iterator_needs_the_async_client(
    memory: Handle, migrated: Settings, tenant: str
) -> None:
    with pytest.raises(InvalidInputError, match="async iterator"):
        memory.session("blocking").respond(ASKED, later)

    async def main() -> None:
        async with await AsyncGraphMem.open(settings=migrated, embedder=HashEmbedder()) as opened:
            for name, complete in (("later", later), ("parts", in_parts)):
                async with opened.tenant(tenant).session(name) as session:
                    stream = await session.respond(ASKED, complete)
                    assert isinstance(stream, ReplyStream)
                    assert [part async for part in stream] == PARTS
                    assert stream.receipt.added == 2
            async with opened.tenant(tenant).session("stopped") as session:
                stream = await session.respond(ASKED, later)
                assert isinstance(stream, ReplyStream)
                async with stream:
                    assert await anext(stream) == "In "
                assert stream.receipt.added == 2
                with pytest.raises(TypeError, match="async for"):
                    next(stream)

    asyncio.run(main())
    for name in ("later", "parts"):
        assert turns(memory.session(name)) == WHOLE
    assert turns(memory.session("stopped"))[1][1].strip() == "In"


def test_the_block_is_before_the_newest_message_of_a_person(memory: Handle) -> None:
    memory.remember(HOME)
    talk: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Hello!"},
        *ASKED,
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "map"}}]},
        {"role": "tool", "content": "42"},
    ]
    reader = MessageReader()
    for given in (talk, [Message(role=m["role"], content=m["content"] or "?") for m in talk]):
        sent = PromptMessages([reader.read(one) for one in given], "the block")
        assert [*sent[:3], *sent[4:]] == given
        assert "the block" in str(sent[3])
    assert "the block" in str(PromptMessages([reader.read(talk[0])], "the block")[1])


@pytest.mark.parametrize("way", ["respond", "stream", "two steps"])
def test_what_a_reply_cites_counts_as_opened(
    memory: Handle, look: Look, tenant: str, way: str
) -> None:
    kept = str(memory.remember(HOME).memory_id)
    memory.remember("I like green tea.")
    with memory.session("s") as session:
        if way == "two steps":
            [short] = [one for one, whole in session.context(ASKED).shown.items() if whole == kept]
            reply = {"role": "assistant", "content": f"In Lisbon [{short}]."}
            session.add_messages([*ASKED, reply])
            session.add_messages([*ASKED, reply])
        else:

            def complete(messages: PromptMessages) -> Any:
                [line] = [one for one in messages.system.splitlines() if HOME in one]
                reply = f"In Lisbon {line.partition(' ')[0]} and [t_0000]."
                return iter([reply]) if way == "stream" else reply

            done = session.respond(ASKED, complete)
            if isinstance(done, ReplyStream):
                list(done)
    memory.usage.flush()
    events = look.events(tenant).values()
    edges = [edge for event in events for edge in event["edges"] if event["type"] == "ACCESS"]
    assert [edge for edge in edges if edge[0] == "ACCESSED"] == [["ACCESSED", "Memory", kept]]
