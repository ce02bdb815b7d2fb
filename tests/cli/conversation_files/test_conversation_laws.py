"""Properties of every conversation file, generated."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphmem.cli.conversation_files import read_conversations
from graphmem.errors import SourceFileError
from graphmem.model import Message

Save = Callable[[bytes], Path]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
labels = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
messages = st.builds(
    Message,
    role=labels,
    content=texts,
    name=st.none() | labels,
    at=st.none() | st.datetimes(timezones=st.just(UTC)),
    id=st.none(),
    session=st.none() | st.sampled_from(["one", "two"]),
)
# Few words, so that equal messages are common.
repetitive = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant"]),
    content=st.sampled_from(["yes", "no"]),
    session=st.none() | st.just("one"),
)


@pytest.fixture(scope="module")
def save(tmp_path_factory: pytest.TempPathFactory) -> Save:
    path = tmp_path_factory.mktemp("laws") / "talk.jsonl"

    def write(raw: bytes) -> Path:
        path.write_bytes(raw)
        return path

    return write


def as_lines(given_messages: Sequence[Message]) -> bytes:
    return "".join(message.model_dump_json() + "\n" for message in given_messages).encode()


def as_list(given_messages: Sequence[Message]) -> bytes:
    return json.dumps([message.model_dump(mode="json") for message in given_messages]).encode()


def read(path: Path) -> tuple[Message, ...]:
    (conversation,) = read_conversations(path, strict=True).conversations
    return conversation.messages


@settings(deadline=None)
@given(
    given_messages=st.lists(messages, min_size=1, max_size=8),
    form=st.sampled_from([as_lines, as_list]),
)
def test_what_was_written_is_read_again(
    save: Save, given_messages: list[Message], form: Callable[[Sequence[Message]], bytes]
) -> None:
    named = [message.model_copy(update={"id": f"m{n}"}) for n, message in enumerate(given_messages)]
    assert read(save(form(named))) == tuple(named)


@settings(deadline=None)
@given(given_messages=st.lists(messages | repetitive, min_size=1, max_size=12))
def test_made_ids_differ_and_change_nothing_else(save: Save, given_messages: list[Message]) -> None:
    found = read(save(as_lines(given_messages)))
    assert [message.model_copy(update={"id": None}) for message in found] == given_messages
    assert None not in {message.id for message in found}
    assert len({message.id for message in found}) == len(given_messages)
    assert read(save(as_list(given_messages))) == found
    assert read(save(as_lines(found))) == found


@settings(deadline=None)
@given(
    given_messages=st.lists(repetitive | messages, min_size=1, max_size=8),
    more=st.lists(repetitive | messages, max_size=8),
)
def test_appending_keeps_the_ids_of_earlier_lines(
    save: Save, given_messages: list[Message], more: list[Message]
) -> None:
    before = read(save(as_lines(given_messages)))
    assert read(save(as_lines(given_messages + more)))[: len(given_messages)] == before


@settings(deadline=None)
@given(
    given_messages=st.lists(repetitive, min_size=1, max_size=8),
    broken=st.sets(st.integers(min_value=0, max_value=8), max_size=4),
)
def test_broken_lines_are_named_and_the_others_kept(
    save: Save, given_messages: list[Message], broken: set[int]
) -> None:
    whole = read(save(as_lines(given_messages)))
    lines = as_lines(given_messages).splitlines(keepends=True)
    for position in sorted(broken):
        lines.insert(position, b'{"role": "user"}\n')
    file = read_conversations(save(b"".join(lines)))
    assert file.conversations[0].messages == whole
    assert [problem.line for problem in file.problems] == [
        number for number, line in enumerate(lines, 1) if line == b'{"role": "user"}\n'
    ]


keys = st.sampled_from(
    ["role", "content", "name", "at", "id", "session", "messages", "type", "text"]
)
words = st.sampled_from(["user", "text", "2026-01-01T00:00:00Z", "March-15-2024"])
scraps = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def assert_read_or_refused(path: Path) -> None:
    try:
        file = read_conversations(path)
    except SourceFileError:
        with pytest.raises(SourceFileError, match=re.escape(str(path))):
            read_conversations(path, strict=True)
        return
    assert all(m.id for talk in file.conversations for m in talk.messages)
    assert any(talk.messages for talk in file.conversations)
    if file.problems:
        with pytest.raises(SourceFileError):
            read_conversations(path, strict=True)
    else:
        assert read_conversations(path, strict=True) == file


@settings(deadline=None)
@given(raw=st.binary(max_size=200) | st.text(max_size=80).map(str.encode))
@example(raw=b'{"role": "user", "content": "\xff"}')
@example(raw=b"\xef\xbb\xbf\xef\xbb\xbf{}")
def test_any_bytes_are_read_or_refused(save: Save, raw: bytes) -> None:
    assert_read_or_refused(save(raw))


@settings(deadline=None)
@given(scrap=scraps, more=st.lists(scraps, max_size=3), indent=st.sampled_from([None, 1]))
def test_any_json_is_read_or_refused(
    save: Save, scrap: object, more: list[object], indent: int | None
) -> None:
    assert_read_or_refused(save(json.dumps(scrap, indent=indent).encode()))
    lines = [json.dumps(one) for one in ({"role": "user", "content": "hello"}, scrap, *more)]
    assert_read_or_refused(save("\n".join(lines).encode()))


@settings(deadline=None)
@given(given_messages=st.lists(messages, min_size=1, max_size=4), data=st.data())
def test_a_damaged_file_is_read_or_refused(
    save: Save, given_messages: list[Message], data: st.DataObject
) -> None:
    raw = bytearray(data.draw(st.sampled_from([as_lines, as_list]))(given_messages))
    for _ in range(data.draw(st.integers(min_value=1, max_value=4))):
        raw[data.draw(st.integers(min_value=0, max_value=len(raw) - 1))] = data.draw(
            st.integers(min_value=0, max_value=255)
        )
    assert_read_or_refused(save(bytes(raw)))
