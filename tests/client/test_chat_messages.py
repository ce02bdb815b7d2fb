"""Messages of chat libraries are stored as they are, each once, and only people are evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from openai.types.chat import ChatCompletionMessage

from graphmem import Handle, Message, Settings
from graphmem.errors import ConfigurationError, InvalidInputError
from tests.plugins.clients import Door

JUNE = datetime(2025, 6, 12, 9, tzinfo=UTC)
WORDS = ("I moved to Lisbon in March.", '[tool call search(query="Lisbon")]', "one hit", "Nice.")
CALL = {"name": "search", "args": {"query": "Lisbon"}, "id": "c1"}
FUNCTION = {"name": "search", "arguments": '{"query": "Lisbon"}'}


def openai() -> list[Any]:
    calls = [{"id": "c1", "type": "function", "function": FUNCTION}]
    asked = {"role": "assistant", "content": None, "tool_calls": calls}
    return [
        {"role": "user", "content": WORDS[0]},
        ChatCompletionMessage.model_validate(asked),
        {"role": "tool", "tool_call_id": "c1", "content": WORDS[2]},
        {"role": "assistant", "content": WORDS[3], "refusal": None, "annotations": []},
    ]


def anthropic() -> list[Any]:
    use = {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "Lisbon"}}
    thinking = {"type": "thinking", "thinking": "The user moved.", "signature": "s"}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": WORDS[2]}
    return [
        {"role": "user", "content": [{"type": "text", "text": WORDS[0]}]},
        {"role": "assistant", "content": [thinking, use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": WORDS[3]},
    ]


def langchain() -> list[Any]:
    return [
        HumanMessage(WORDS[0], id="1"),
        AIMessage("", tool_calls=[CALL], id="2"),
        ToolMessage(WORDS[2], tool_call_id="c1", id="3"),
        AIMessage(WORDS[3], id="4"),
    ]


def pydantic_ai() -> list[Any]:
    """Objects with the fields of the library's, which the tests do not install."""

    def part(kind: str, **fields: object) -> SimpleNamespace:
        return SimpleNamespace(part_kind=kind, timestamp=JUNE, **fields)

    def message(kind: str, *parts: object) -> SimpleNamespace:
        return SimpleNamespace(kind=kind, parts=list(parts))

    return [
        message("request", part("user-prompt", content=WORDS[0])),
        message("response", part("tool-call", tool_name="search", args={"query": "Lisbon"})),
        message("request", part("tool-return", tool_name="search", content=WORDS[2])),
        message("response", part("text", content=WORDS[3])),
    ]


SHAPES = [openai, anthropic, langchain, pydantic_ai]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_conversation_of_each_library_is_kept_once(
    memory: Handle, shape: Callable[[], Sequence[Any]]
) -> None:
    with memory.session("s1") as session:
        session.add_messages(shape()[:1])
        done = session.add_messages(shape())
        assert session.add_messages(shape()).added == 0
        turns = session.episodes.turns(session.episode_id).turns
    assert (done.added, done.skipped) == (3, 0)
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant"]
    assert tuple(turn.text for turn in turns) == WORDS
    assert [turn.id for turn in turns] == list(done.turn_ids)


def test_the_library_may_change_in_the_middle(memory: Handle) -> None:
    session = memory.session("s1")
    first = session.add_messages(openai())
    for shape in SHAPES:
        assert session.add_messages(shape()).turn_ids == first.turn_ids


def test_a_reply_may_get_an_id_and_a_time_later(memory: Handle) -> None:
    """Libraries add ids and times to messages that were stored without: nothing is doubled."""
    session = memory.session("s1")
    session.add_messages([{"role": "user", "content": "Hi"}])
    session.add_messages([HumanMessage("Hi", id="1"), AIMessage("Hello.")])
    known = [HumanMessage("Hi", id="1"), AIMessage("Hello.", id="2"), HumanMessage("?", id="3")]
    assert session.add_messages(known).added == 1
    assert session.add_messages(known).added == 0


def test_times_of_a_library_are_those_of_the_turns(memory: Handle) -> None:
    session = memory.session("s1")
    session.add_messages(pydantic_ai())
    turns = session.episodes.turns(session.episode_id).turns
    assert {turn.occurred_at for turn in turns} == {JUNE}


def test_ids_of_plain_messages_do_not_depend_on_the_form(memory: Handle) -> None:
    plain = {"role": "user", "content": "as\tsaid \n", "name": "Zoë", "id": "7", "at": JUNE}
    session = memory.session("s1")
    first = session.add_messages([plain])
    assert first.turn_ids == ("t_79777d6273d8dc007e32e4c306bccd76",)
    assert session.add_messages([Message.model_validate(plain)]).turn_ids == first.turn_ids


def test_a_receipt_tells_what_was_left_out(memory: Handle) -> None:
    session = memory.session("s1")
    done = session.add_messages(
        [
            *anthropic(),
            {"role": "assistant", "content": None},
            {"role": "critic", "content": "Nice."},
        ]
    )
    assert (done.added, len(done.turn_ids), done.skipped) == (5, 5, 1)
    assert done.notes == ("dropped: 1 thinking", "not a person: role 'critic'")
    report = memory.ingest([{"role": "critic", "content": "Nice."}, {"role": "ai", "content": []}])
    assert (report.turns_added, report.skipped) == (1, 1)
    assert report.notes == ("not a person: role 'critic'",)


@pytest.mark.parametrize("role", ["ai", "critic", "AI"])
def test_no_unknown_role_is_a_person(memory: Handle, role: str) -> None:
    said = {"role": role, "content": "I live in Lisbon."}
    memory.ingest([said])
    assert memory.beliefs.list().beliefs == ()
    with memory.session("s1") as session:
        session.add_messages([said])
        assert session.extract(extractor="rules").proposals == ()
        with pytest.raises(InvalidInputError, match="message of a person"):
            session.context([said])
    for n in range(4):
        memory.session(f"talk {n}").add_messages([{**said, "content": f"I swim in lake {n}."}])
    assert memory.consolidate().changes == ()


def test_results_of_tools_are_not_what_the_user_said(memory: Handle) -> None:
    result = {"type": "tool_result", "tool_use_id": "c", "content": "I live in Lisbon."}
    memory.ingest(
        [{"role": "user", "content": [result, {"type": "text", "text": "The rent is due."}]}]
    )
    assert memory.beliefs.list().beliefs == ()
    [episode] = memory.episodes.list().episodes
    turns = memory.episodes.turns(episode.id).turns
    assert [turn.text for turn in turns if turn.role == "user"] == ["The rent is due."]


def test_a_role_map_says_who_speaks(memory: Handle) -> None:
    roles = {"customer": "user", "clerk": "assistant"}
    said = [
        {"role": "customer", "content": "I live in Lisbon."},
        {"role": "clerk", "content": "I live in Porto."},
    ]
    with memory.session("s1") as session:
        done = session.add_messages(said, roles=roles)  # type: ignore[arg-type]
        assert done.notes == ()
        turns = session.episodes.turns(session.episode_id).turns
        assert [turn.role for turn in turns] == ["user", "assistant"]
        session.context(said, roles=roles)  # type: ignore[arg-type]
        assert len(session.extract(extractor="rules").proposals) == 1
    memory.ingest(said, roles=roles)  # type: ignore[arg-type]
    assert [one.object for one in memory.beliefs.list().beliefs] == ["Lisbon"]
    with pytest.raises(InvalidInputError, match="roles"):
        memory.ingest(said, roles={"customer": "person"})  # type: ignore[dict-item]


def test_the_role_map_may_be_a_setting(door: Door, memory: Handle) -> None:
    known = memory._state.context.services.settings
    read = Settings.load({"GRAPHMEM_MESSAGE_ROLES": '{"customer": "user", "clerk": "user"}'})
    own = known.model_copy(update={"message_roles": read.message_roles})
    memory = door.on(memory, settings=own)
    memory.ingest([{"role": "customer", "content": "I live in Lisbon."}])
    given = [{"role": "clerk", "content": "I live in Porto."}]
    memory.ingest(given, roles={"clerk": "assistant"})
    assert [one.object for one in memory.beliefs.list().beliefs] == ["Lisbon"]
    for wrong in ('{"customer": "person"}', "[1]", "customer"):
        with pytest.raises(ConfigurationError, match="MESSAGE_ROLES"):
            Settings.load({"GRAPHMEM_MESSAGE_ROLES": wrong})


def test_a_context_is_asked_by_messages_of_any_library(memory: Handle) -> None:
    memory.remember("Alice moved to Lisbon in March.")
    asked = memory.context("I moved to Lisbon in March.").ids
    assert len(asked) == 1
    for shape in SHAPES:
        assert memory.context(shape()).ids == asked


def test_a_block_in_the_messages_is_not_stored(memory: Handle) -> None:
    memory.remember("Alice moved to Lisbon in March.")
    with memory.session("s1") as session:
        block = session.context("where did Alice move to?").text
        done = session.add_messages([{"role": "system", "content": block}, *openai()])
    assert (done.added, done.skipped) == (4, 1)


@pytest.mark.parametrize(
    "broken", [{"role": "user", "content": "x", "mood": "glad"}, "hello", 5, None, object()]
)
def test_the_error_of_a_broken_message_names_its_place(memory: Handle, broken: Any) -> None:
    for call in (memory.session("s").add_messages, memory.ingest, memory.context):
        with pytest.raises(InvalidInputError, match="Message 1"):
            call([{"role": "user", "content": "Hi"}, broken])


def test_a_future_time_of_a_library_is_refused(memory: Handle) -> None:
    [message, *_] = pydantic_ai()
    message.parts[0].timestamp = datetime.now(UTC) + timedelta(days=9)
    with pytest.raises(InvalidInputError):
        memory.session("s1").add_messages([message])
