"""Whole files: encodings, layouts of one JSON value, and files that are not conversations."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem.cli import conversation_files as source_module
from graphmem.cli.conversation_files import read_conversations
from graphmem.errors import SourceFileError

WriteFile = Callable[..., Path]
TALK = [
    {"role": "user", "content": "Is the café open?", "id": "1"},
    {"role": "assistant", "content": "Until nine.", "id": "2"},
]
LINES = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in TALK)


def contents(path: Path) -> list[str]:
    file = read_conversations(path, strict=True)
    return [message.content for talk in file.conversations for message in talk.messages]


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        LINES.rstrip("\n"),
        LINES.replace("\n", "\r\n"),
        "\n\n" + LINES,
        "\ufeff" + LINES,
        json.dumps(TALK),
        json.dumps(TALK, indent=2),
        "\ufeff" + json.dumps(TALK, indent="\t"),
        json.dumps({"messages": TALK}),
        json.dumps({"id": 3, "messages": TALK}, indent=2),
        '{"messages": [\n' + LINES.strip().replace("\n", ",\n") + "\n]}\n",
        '{"messages":\n[\n' + LINES.strip().replace("\n", ",\n") + "\n]}\n",
        "[" + LINES.strip().replace("\n", ",\n") + "]",
    ],
)
def test_the_form_is_told_by_the_content(write_file: WriteFile, text: str) -> None:
    for name in ("talk.jsonl", "talk.json", "talk"):
        path = write_file(text.encode(), name=name)
        assert contents(path) == ["Is the café open?", "Until nine."]


def test_one_message_is_a_conversation(write_file: WriteFile) -> None:
    assert contents(write_file(json.dumps(TALK[1]).encode())) == ["Until nine."]
    assert contents(write_file(json.dumps(TALK[1:]).encode())) == ["Until nine."]
    wrapped = '{"messages": [\n' + json.dumps(TALK[1]) + "\n]}"
    assert contents(write_file(wrapped.encode())) == ["Until nine."]


def test_a_wrong_message_of_a_list_is_named_and_the_rest_is_kept(write_file: WriteFile) -> None:
    path = write_file(json.dumps([TALK[0], {"role": "user"}, "x", TALK[1]]).encode())
    file = read_conversations(path)
    assert [p.text for p in file.problems] == [
        "message 2: content is missing",
        "message 3: expected an object with role and content, found text",
    ]
    assert [p.line for p in file.problems] == [None, None]
    assert len(file.conversations[0].messages) == 2
    with pytest.raises(SourceFileError, match=r"talk.jsonl: message 2: content is missing"):
        read_conversations(path, strict=True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_named(write_file: WriteFile, encoding: str) -> None:
    with pytest.raises(SourceFileError, match=r"is UTF-16 or UTF-32, not UTF-8.*iconv"):
        read_conversations(write_file(LINES.encode(encoding)))


def test_latin_1_lines_are_problems_and_never_become_other_words(write_file: WriteFile) -> None:
    path = write_file(LINES.encode("latin-1"))
    file = read_conversations(path)
    (problem,) = file.problems
    assert problem.text == "line 1: not UTF-8 (byte 0xe9 at position 40); save the file as UTF-8"
    assert [m.content for m in file.conversations[0].messages] == ["Until nine."]


def test_latin_1_in_a_json_value_is_refused_with_its_line(write_file: WriteFile) -> None:
    text = json.dumps(TALK, indent=1, ensure_ascii=False)
    with pytest.raises(SourceFileError, match=r"line 4: not UTF-8\. Save the file as UTF-8"):
        read_conversations(write_file(text.encode("latin-1")))


@pytest.mark.parametrize("raw", [b"", b"\n \r\n\t\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_an_empty_file_is_named(write_file: WriteFile, raw: bytes) -> None:
    with pytest.raises(SourceFileError, match="is empty"):
        read_conversations(write_file(raw))


def test_binary_files_are_refused(write_file: WriteFile) -> None:
    for raw in (b"\x7fELF\x02\x01\x01" + bytes(64), b"SQLite format 3\x00" + bytes(64)):
        with pytest.raises(SourceFileError, match="binary file"):
            read_conversations(write_file(raw))
    with pytest.raises(SourceFileError):
        read_conversations(write_file(gzip.compress(LINES.encode())))


def test_what_is_not_there_or_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceFileError, match="does not exist"):
        read_conversations(tmp_path / "nowhere" / "talk.jsonl")
    with pytest.raises(SourceFileError, match="is a directory"):
        read_conversations(tmp_path)
    with pytest.raises(SourceFileError, match="is not a valid file name"):
        read_conversations(tmp_path / "a\0b")
    with pytest.raises(SourceFileError, match="cannot be read: File name too long"):
        read_conversations(tmp_path / ("n" * 5000))


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceFileError, match="not a regular file"):
        read_conversations(tmp_path / "pipe")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        "17",
        '"hello"',
        "null",
        "role,content\nuser,hello\n",
        "Just a letter to a friend.\nWith two lines.\n",
        "[]",
        '{"messages": []}',
        '[{"speaker": "Nora", "words": "hello"}]',
        "[[1, 2], 3]",
        '{\n  "rows": []\n}',
    ],
)
def test_an_unknown_layout_is_refused_with_the_known_ones(write_file: WriteFile, text: str) -> None:
    with pytest.raises(SourceFileError, match=r"graphmem reads one .* object per line"):
        read_conversations(write_file(text.encode()))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(TALK, indent=1)[:-3], r"line 11: not valid JSON"),
        (json.dumps({"messages": TALK}, indent=1)[:40], r"line \d: not valid JSON"),
        ("[" * 200_000, "nested too deeply"),
        ("[" + "9" * 5000 + "]", "too many digits"),
        (json.dumps(TALK) + "\n" + json.dumps(TALK), "line 2: not valid JSON: Extra data"),
    ],
)
def test_a_broken_json_value_is_refused_whole(
    write_file: WriteFile, text: str, reason: str
) -> None:
    with pytest.raises(SourceFileError, match=reason):
        read_conversations(write_file(text.encode()))


def test_a_json_value_too_big_to_hold_is_refused(
    write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_file(json.dumps(TALK).encode())
    monkeypatch.setattr(source_module, "MAX_DOCUMENT_BYTES", path.stat().st_size)
    assert len(contents(path)) == 2
    monkeypatch.setattr(source_module, "MAX_DOCUMENT_BYTES", path.stat().st_size - 1)
    with pytest.raises(SourceFileError, match="JSON Lines"):
        read_conversations(path)


def test_a_long_file_of_something_else_is_given_up_early(write_file: WriteFile) -> None:
    path = write_file(*["Dear diary,"] * 1000, TALK[0])
    with pytest.raises(SourceFileError, match=r"contains no message\. First problem: line 1"):
        read_conversations(path)
    later = write_file(*["Dear diary,"] * 999, TALK[0])
    assert len(read_conversations(later).problems) == 999


def test_errors_while_reading_are_named(
    write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    path = write_file(LINES)
    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(SourceFileError, match="cannot be read: Input/output error"):
        read_conversations(path)
