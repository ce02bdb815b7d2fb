"""Messages of chat libraries: their words by role, and what is left out."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    message_to_dict,
)
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseOutputText,
    ResponseReasoningItem,
)

from graphmem.conversation import blocks, messages
from graphmem.conversation.given import given_messages
from graphmem.conversation.prompting import PromptMessages
from graphmem.model import Message, roles

PNG = base64.b64encode(b"png bytes").decode()
DIGEST = "sha256:d013614dc14a37ee"
LEASE = f"sha256:{hashlib.sha256(b'I own a boat.').hexdigest()[:16]}"
CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}


def read(*given: object, roles: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """Return role and text of what the messages say."""
    reader = messages.MessageReader(roles)
    return [(one.role, one.text) for message in given for one in reader.read(message).texts]


def as_object(value: Any) -> Any:
    """Return a mapping as an object with attributes, as a library makes it."""
    if isinstance(value, dict):
        as_is = {key for key in value if key in ("input", "args", "action")}
        as_is |= {key for key in value if key == "content" and isinstance(value[key], dict)}
        return SimpleNamespace(
            **{str(k): item if k in as_is else as_object(item) for k, item in value.items()}
        )
    return [as_object(item) for item in value] if isinstance(value, list) else value


OPENAI: list[tuple[object, list[tuple[str, str]]]] = [
    ({"role": "user", "content": "Hi"}, [("user", "Hi")]),
    ({"role": "user", "content": "  as is\n"}, [("user", "  as is\n")]),
    ({"role": "user", "content": ""}, [("user", "")]),
    ({"role": "developer", "content": "Be brief."}, [("developer", "Be brief.")]),
    ({"role": "assistant", "content": None}, []),
    ({"role": "assistant", "content": None, "tool_calls": None, "refusal": None}, []),
    ({"role": "assistant", "tool_calls": [CALL]}, [("assistant", "[tool call search()]")]),
    (
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {"id": "1", "function": {"name": "search", "arguments": '{"query":"Porto","n":2}'}},
                {"id": "2", "type": "custom", "custom": {"name": "note", "input": "buy tea"}},
            ],
        },
        [
            (
                "assistant",
                'Let me look.\n[tool call search(query="Porto", n=2)]\n[tool call note(buy tea)]',
            )
        ],
    ),
    (
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{"}},
        [("assistant", "[tool call f({)]")],
    ),
    (
        {"role": "assistant", "content": None, "refusal": "I cannot help with that."},
        [("assistant", "I cannot help with that.")],
    ),
    (
        {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "Good morning."}},
        [("assistant", "Good morning.")],
    ),
    ({"role": "tool", "content": "42", "tool_call_id": "c1"}, [("tool", "42")]),
    (
        {"role": "tool", "content": [{"type": "text", "text": "42"}], "tool_call_id": "c1"},
        [("tool", "42")],
    ),
    (
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
                {"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": PNG}},
                {"type": "file", "file": {"file_id": "file-1"}},
            ],
        },
        [
            (
                "user",
                "What is this?\n[image https://example.org/a.png]\n"
                f"[image image/png {DIGEST}]\n[audio wav {DIGEST}]\n[file a.pdf {DIGEST}]\n"
                "[file file-1]",
            )
        ],
    ),
    (
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        [("assistant", "No.")],
    ),
]
RESPONSES: list[tuple[object, list[tuple[str, str]]]] = [
    (
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Porto.", "annotations": []}],
        },
        [("assistant", "Porto.")],
    ),
    (
        {"role": "user", "content": [{"type": "input_image", "image_url": "https://x.org/a"}]},
        [("user", "[image https://x.org/a]")],
    ),
    (
        {"type": "function_call", "call_id": "c", "name": "search", "arguments": '{"q": "x"}'},
        [("assistant", '[tool call search(q="x")]')],
    ),
    ({"type": "function_call_output", "call_id": "c", "output": "one hit"}, [("tool", "one hit")]),
    (
        {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "x"}},
        [("assistant", '[tool call web_search(type="search", query="x")]')],
    ),
    ({"type": "reasoning", "id": "r", "summary": []}, []),
]
ANTHROPIC: list[tuple[object, list[tuple[str, str]]]] = [
    (
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I should search.", "signature": "s"},
                {"type": "redacted_thinking", "data": "AAAA"},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "t1", "name": "search", "input": {"query": "heron"}},
            ],
        },
        [("assistant", 'Let me look.\n[tool call search(query="heron")]')],
    ),
    (
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [
                        {"type": "text", "text": "I live in Lisbon."},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                        },
                    ],
                },
                {"type": "tool_result", "tool_use_id": "t2"},
                {"type": "text", "text": "And in Porto?"},
            ],
        },
        [("tool", f"I live in Lisbon.\n[image image/png {DIGEST}]"), ("user", "And in Porto?")],
    ),
    (
        {
            "role": "user",
            "content": [
                {
                    "type": "document",
                    "title": "Lease",
                    "source": {"type": "text", "media_type": "text/plain", "data": "I own a boat."},
                },
                {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
            ],
        },
        [("user", f"[document Lease text/plain {LEASE}]\n[image file_1]")],
    ),
    (
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "s",
                    "content": [
                        {
                            "type": "web_search_result",
                            "url": "https://example.org/h",
                            "title": "Herons",
                            "encrypted_content": PNG,
                        }
                    ],
                },
                {"type": "text", "text": "Herons wade."},
            ],
        },
        [
            ("assistant", '[tool call web_search(q="x")]'),
            ("tool", "[web_search_result Herons https://example.org/h]"),
            ("assistant", "Herons wade."),
        ],
    ),
]
PYDANTIC_AI: list[tuple[object, list[tuple[str, str]]]] = [
    (
        {
            "kind": "request",
            "instructions": None,
            "parts": [
                {"part_kind": "system-prompt", "content": "Be brief."},
                {
                    "part_kind": "user-prompt",
                    "content": [
                        "What is this?",
                        {"kind": "image-url", "url": "https://example.org/a.png"},
                        {"kind": "binary", "data": PNG, "media_type": "image/png"},
                        {"kind": "cache-point"},
                    ],
                },
            ],
        },
        [
            ("system", "Be brief."),
            (
                "user",
                f"What is this?\n[image https://example.org/a.png]\n[file image/png {DIGEST}]",
            ),
        ],
    ),
    (
        {
            "kind": "response",
            "model_name": "m",
            "parts": [
                {"part_kind": "thinking", "content": "Hm."},
                {"part_kind": "text", "content": "Let me look."},
                {"part_kind": "tool-call", "tool_name": "search", "args": {"q": "heron"}},
                {"part_kind": "builtin-tool-call", "tool_name": "web", "args": '{"q": 1}'},
            ],
        },
        [("assistant", 'Let me look.\n[tool call search(q="heron")]\n[tool call web(q=1)]')],
    ),
    (
        {
            "kind": "request",
            "parts": [
                {"part_kind": "tool-return", "tool_name": "search", "content": {"hits": 1}},
                {"part_kind": "retry-prompt", "content": "Give a name.", "tool_name": None},
                {"part_kind": "user-prompt", "content": "And?"},
            ],
        },
        [("tool", '{"hits": 1}\nGive a name.'), ("user", "And?")],
    ),
]
MAPPINGS = OPENAI + RESPONSES + ANTHROPIC + PYDANTIC_AI


@pytest.mark.parametrize(("message", "said"), MAPPINGS)
def test_a_mapping_says_what_its_library_means(
    message: object, said: list[tuple[str, str]]
) -> None:
    assert read(message) == said


@pytest.mark.parametrize(("message", "said"), MAPPINGS)
def test_an_object_says_the_same_as_its_mapping(
    message: object, said: list[tuple[str, str]]
) -> None:
    # Blank text is kept of a plain mapping only; of an object it is nothing.
    assert read(as_object(message)) == [one for one in said if one[1]]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (HumanMessage("Hi", name="Zoë", id="1"), [("user", "Hi")]),
        (HumanMessage(["Hi", {"type": "text", "text": "there"}]), [("user", "Hi\nthere")]),
        (
            HumanMessage([{"type": "image", "base64": PNG, "mime_type": "image/png"}]),
            [("user", f"[image image/png {DIGEST}]")],
        ),
        (SystemMessage("Be brief."), [("system", "Be brief.")]),
        (AIMessage("Hello."), [("assistant", "Hello.")]),
        (AIMessageChunk(content="Hello."), [("assistant", "Hello.")]),
        (AIMessage(""), []),
        (
            AIMessage("", tool_calls=[{"name": "search", "args": {"q": "x"}, "id": "c"}]),
            [("assistant", '[tool call search(q="x")]')],
        ),
        (
            AIMessage(
                [
                    {"type": "reasoning", "reasoning": "Hm."},
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "name": "search", "input": {"q": "x"}, "id": "c"},
                ],
                tool_calls=[{"name": "search", "args": {"q": "x"}, "id": "c"}],
            ),
            [("assistant", 'Let me look.\n[tool call search(q="x")]')],
        ),
        (ToolMessage("one hit", tool_call_id="c"), [("tool", "one hit")]),
        (FunctionMessage(content="one hit", name="search"), [("function", "one hit")]),
        (ChatMessage(content="Nice.", role="critic"), [("critic", "Nice.")]),
        (RemoveMessage(id="1"), []),
    ],
)
def test_langchain(message: Any, said: list[tuple[str, str]]) -> None:
    assert read(message) == said
    assert read(message_to_dict(message)) == said
    assert read(message.model_dump()) == said


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (ChatCompletionMessage(role="assistant", content="Hello."), [("assistant", "Hello.")]),
        (
            ChatCompletionMessage.model_validate(
                {"role": "assistant", "content": None, "tool_calls": [CALL]}
            ),
            [("assistant", "[tool call search()]")],
        ),
        (
            ChatCompletionMessage(role="assistant", content=None, refusal="No."),
            [("assistant", "No.")],
        ),
        (
            ResponseOutputMessage(
                id="m",
                role="assistant",
                status="completed",
                type="message",
                content=[
                    ResponseOutputText(annotations=[], text="Porto.", type="output_text"),
                    ResponseOutputRefusal(refusal="No more.", type="refusal"),
                ],
            ),
            [("assistant", "Porto.\nNo more.")],
        ),
        (
            ResponseFunctionToolCall(
                arguments='{"q": "x"}', call_id="c", name="search", type="function_call"
            ),
            [("assistant", '[tool call search(q="x")]')],
        ),
        (ResponseReasoningItem(id="r", summary=[], type="reasoning"), []),
    ],
)
def test_openai_objects(message: Any, said: list[tuple[str, str]]) -> None:
    assert read(message) == said
    assert read(message.model_dump()) == said


def test_what_was_left_out_is_counted() -> None:
    reader = messages.MessageReader()
    for message in (
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}] * 2},
        {"role": "critic", "content": "Nice."},
        {"role": "critic", "content": "Very nice."},
        {"role": "user", "content": "Thanks."},
        {"role": "user", "content": None},
    ):
        reader.read(message)
    assert reader.skipped == 2
    assert reader.notes == ("dropped: 2 thinking", "not a person: role 'critic'")


def test_a_role_map_says_who_speaks() -> None:
    roles = {"Customer": "user", "bot": "assistant"}
    given = [{"role": "customer", "content": "Hi"}, Message(role="BOT", content="Hello.")]
    assert read(*given, roles=roles) == [("user", "Hi"), ("assistant", "Hello.")]
    assert read(*given) == [("customer", "Hi"), ("BOT", "Hello.")]


@pytest.mark.parametrize("role", ["user", "human", "User", "HUMAN"])
def test_users_and_humans_are_people(role: str) -> None:
    assert roles.is_human(role)


@pytest.mark.parametrize(
    "role",
    [
        *("assistant", "ai", "model", "bot", "agent", "chatbot", "system", "developer", "tool"),
        *("function", "critic", "customer", "AI", ""),
    ],
)
def test_no_other_role_is_a_person(role: str) -> None:
    assert not roles.is_human(role)


def test_an_object_without_plain_data_is_named_by_its_type() -> None:
    class Endless:
        def model_dump(self, mode: str) -> object:  # noqa: ARG002
            return Endless()

    call = {"type": "tool_use", "name": "find", "input": {"by": Endless()}}
    said = read({"role": "assistant", "content": [call]})
    assert said == [("assistant", '[tool call find(by="[Endless]")]')]


def test_a_block_of_memory_is_not_part_of_the_conversation() -> None:
    block = f"{blocks.OPEN}\n{blocks.HEAD}\n[m_1] memory\n{blocks.CLOSE}"
    reader = messages.MessageReader()
    assert reader.read({"role": "system", "content": block}).is_block
    assert reader.read(SystemMessage(block)).is_block
    assert reader.skipped == 2
    assert read({"role": "user", "content": block}) == [("user", block)]


def test_bytes_and_long_arguments_are_not_kept() -> None:
    given = {"image": f"data:image/png;base64,{PNG * 9}", "text": "x" * 900}
    call = {"name": "draw", "args": given}
    [(_, text)] = read(AIMessage("", tool_calls=[{**call, "id": "c"}]))
    assert PNG not in text
    assert len(text) < 600
    [(_, many)] = read(
        {"role": "assistant", "tool_calls": [{"function": {"name": "n" * 9_000, "arguments": {}}}]}
    )
    assert len(many) < 600


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("hello", "expected an object with role and content, found text"),
        (None, "found null"),
        (5, "found a number"),
        ([], "found a list"),
        (object(), "found object"),
        ({"content": "hello"}, "role is missing"),
        ({"role": 5, "content": "x"}, "role is a number, expected text"),
        ({"role": "user"}, "content is missing"),
        ({"role": "user", "content": {"text": "x"}}, "content is an object, expected text"),
        ({"role": "user", "content": [5]}, "content is a list of something other than content"),
        ({"type": "banana", "content": "x"}, "role is missing"),
    ],
)
def test_what_is_not_a_message_is_said(given: object, reason: str) -> None:
    with pytest.raises(messages.MessageError) as caught:
        read(given)
    assert reason in str(caught.value)


WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.binary(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "role", "content", "text", "parts", "kind", "part_kind", "data"]
            )
            | st.sampled_from(
                ["tool_calls", "input", "source", "url", "function", "output", "audio"]
            ),
            inner
            | st.sampled_from(
                ["text", "tool_result", "image", "tool_use", "request", "user", "ai"]
            ),
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(given=WILD)
def test_any_value_is_read_or_refused(given: object) -> None:
    for value in (given, as_object(given)):
        try:
            said = messages.MessageReader().read(value).texts
        except messages.MessageError:
            continue
        assert all(type(one.role) is type(one.text) is str for one in said)


@given(text=st.text(), role=st.text(min_size=1, max_size=20))
def test_a_plain_text_stays_as_it_is(text: str, role: str) -> None:
    assert read({"role": role, "content": text}) == [(role, text)] or blocks.OPEN in text


class Counted:
    """A message of a library that counts how often its content is read."""

    type = "human"

    def __init__(self) -> None:
        self.reads = 0

    @property
    def content(self) -> str:
        self.reads += 1
        return "I moved to Porto."


def test_a_message_is_read_once() -> None:
    counted, record = Counted(), Message(role="user", content="Hi")
    given = given_messages([counted, record], {})
    reads = counted.reads
    assert PromptMessages(given.read, "block").messages == [counted, record]
    assert counted.reads == reads
    assert given.messages[1] is record


def test_a_time_as_text_is_no_broken_text() -> None:
    given = given_messages([{"role": "user", "content": "Hi", "at": "2025-05-05T00:00:00Z"}], {})
    assert (given.messages[0].at, given.notes) == (datetime(2025, 5, 5, tzinfo=UTC), ())
