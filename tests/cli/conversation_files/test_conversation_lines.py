"""JSON Lines: every way in which one line can be right or wrong."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem.cli import conversation_files as source_module
from graphmem.cli.conversation_files import ConversationFile, read_conversations
from graphmem.errors import SourceFileError
from graphmem.model import Message

WriteFile = Callable[..., Path]
GOOD = {"role": "user", "content": "The kettle is on.", "id": "good"}


def only(file: ConversationFile) -> tuple[Message, ...]:
    (conversation,) = file.conversations
    return conversation.messages


def test_all_fields_are_read(write_file: WriteFile) -> None:
    path = write_file(
        {
            "session": "breakfast",
            "role": "user",
            "name": "Nora",
            "at": "2026-02-01T09:30:00.250+02:00",
            "id": 7,
            "content": "Tea,\n please",
            "mood": "sunny",
        }
    )
    file = read_conversations(path, strict=True)
    assert file.problems == ()
    assert file.unread == {"mood": 1}
    assert file.conversations[0].name == "talk"
    assert only(file) == (
        Message(
            role="user",
            content="Tea,\n please",
            name="Nora",
            at=datetime(2026, 2, 1, 7, 30, 0, 250_000, tzinfo=UTC),
            time_zone="+02:00",
            id="7",
            session="breakfast",
        ),
    )


def test_a_broken_line_57_is_named_and_the_rest_is_kept(write_file: WriteFile) -> None:
    lines: list[object] = [{"role": "user", "content": f"line {n}"} for n in range(1, 101)]
    lines[56] = '{"role": "user", "content": cut off}'
    path = write_file(*lines)
    file = read_conversations(path)
    (problem,) = file.problems
    assert problem.line == 57
    assert problem.text == "line 57: not valid JSON: Expecting value at column 29"
    assert [m.content for m in only(file)] == [f"line {n}" for n in range(1, 101) if n != 57]
    with pytest.raises(SourceFileError, match="line 57: not valid JSON"):
        read_conversations(path, strict=True)


@pytest.mark.parametrize(
    "broken",
    ['{"role": "user", "content"', '{"role": "user",', "{", "# exported today", "\x00\x01"],
)
def test_a_broken_first_line_does_not_hide_the_layout(write_file: WriteFile, broken: str) -> None:
    if broken.startswith("\x00"):
        with pytest.raises(SourceFileError, match="binary"):
            read_conversations(write_file(broken, GOOD))
        return
    file = read_conversations(write_file(broken, GOOD))
    assert [problem.line for problem in file.problems] == [1]
    assert [m.id for m in only(file)] == ["good"]


def test_blank_lines_count_and_are_no_problem(write_file: WriteFile) -> None:
    file = read_conversations(write_file("", GOOD, "   \r", "nonsense", name="odd.txt"))
    assert [problem.line for problem in file.problems] == [4]
    assert len(only(file)) == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"content": "hello"}, "role is missing"),
        ({"role": "", "content": "hello"}, "role is empty"),
        ({"role": "r" * 201, "content": "hello"}, "role is longer than 200 characters"),
        ({"role": 5, "content": "hello"}, "role is a number, expected text"),
        ({"role": "user"}, "content is missing"),
        ({"role": "user", "content": None}, "content is null"),
        ({"role": "user", "content": 5.5}, "content is a number, expected text"),
        ({"role": "user", "content": {"text": "x"}}, "content is an object, expected text"),
        ({"role": "user", "content": [5]}, "content is a list of something other"),
        ({"role": "user", "content": []}, "content has no text part"),
        ({"role": "user", "content": [{"type": "thinking"}]}, "content has no text part"),
        ({"role": "user", "content": [{"type": "text", "text": 1}]}, "content is a number"),
        ({"role": "user", "content": "x", "name": ["Nora"]}, "name is a list, expected text"),
        ({"role": "user", "content": "x", "id": True}, "id is true or false, expected text"),
        ({"role": "user", "content": "x", "id": "i" * 201}, "id is longer than 200 characters"),
        ({"role": "user", "content": "x" * 1_000_001}, "content is longer than 1000000 char"),
        ('{"role": "user", "content": "x", "at": "\\ud800"}', r"at '\ud800' is not a time"),
        ([GOOD], "expected an object with role and content, found a list"),
        ("null", "expected an object with role and content, found null"),
        ('{"role": "user", "content": "tab\there"}', "Invalid control character at"),
        (GOOD | {"content": "other words"}, "another message already has the id 'good'"),
        ("[" * 100_000, "nested too deeply"),
        ('{"role": "user", "content": ' + "9" * 5000 + "}", "number with too many digits"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(
    write_file: WriteFile, line: object, reason: str
) -> None:
    path = write_file(GOOD, line)
    file = read_conversations(path)
    (problem,) = file.problems
    assert problem.line == 2
    assert reason in problem.reason
    assert len(only(file)) == 1
    with pytest.raises(SourceFileError, match="line 2: "):
        read_conversations(path, strict=True)


def test_half_a_character_is_repaired_and_named(write_file: WriteFile) -> None:
    broken = GOOD | {"id": "b", "content": "half \ud83d"}
    file = read_conversations(write_file(GOOD, broken, GOOD | {"id": "c"}))
    assert [message.content for message in only(file)][1] == "half \ufffd"
    assert (file.problems, file.notes) == ((), ("line 2: half of a surrogate pair became U+FFFD",))


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        (17.5, "at must be a time of the years 1990"),
        ("1767", "at must be a time of the years 1990"),
        (10**300, "at must be a time of the years 1990"),
        (True, "at must be a text or a number"),
        ([5], "at must be a text or a number"),
        ("yesterday", "at 'yesterday' is not a time"),
        ("x" * 5000, "…' is not a time"),
        ("2026-02-30T00:00:00Z", "is not a time"),
        ("0000-12-31T00:00:00Z", "before the year 1 or after the year 9999"),
        ("-0044-03-15T12:00:00Z", "before the year 1 or after the year 9999"),
        ("10000-01-01T00:00:00Z", "before the year 1 or after the year 9999"),
        ("+12026-01-01T00:00:00Z", "before the year 1 or after the year 9999"),
        ("0001-01-01T00:00:00+01:00", "before the year 1 or after the year 9999 in UTC"),
        ("9999-12-31T23:59:59-01:00", "after the year 9999 in UTC"),
    ],
)
def test_instants_without_a_meaning_are_refused(
    write_file: WriteFile, at: object, reason: str
) -> None:
    (problem,) = read_conversations(write_file(GOOD, GOOD | {"id": "b", "at": at})).problems
    assert reason in problem.reason
    assert len(problem.text) < 200


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime.max.replace(tzinfo=UTC)),
        ("20260201T093000Z", datetime(2026, 2, 1, 9, 30, tzinfo=UTC)),
        (" 2026-02-01 09:30+05:45 ", datetime(2026, 2, 1, 3, 45, tzinfo=UTC)),
    ],
)
def test_instants_with_an_offset_are_read(
    write_file: WriteFile, at: str, expected: datetime
) -> None:
    (message,) = only(read_conversations(write_file(GOOD | {"at": at}), strict=True))
    assert message.at == expected


def test_content_parts_are_joined_and_pictures_become_their_address(write_file: WriteFile) -> None:
    parts = [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "text", "text": "a heron"},
    ]
    (message,) = only(read_conversations(write_file({"role": "user", "content": parts})))
    assert message.content == "Look\n[image https://example.org/a.png]\na heron"


def test_results_of_tools_in_a_message_of_a_user_are_not_the_users(write_file: WriteFile) -> None:
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "I live in Lisbon."}
    words = {"type": "text", "text": "And in Porto?"}
    line = {"role": "user", "content": [result, words], "id": "7"}
    found = only(read_conversations(write_file(line), strict=True))
    assert [(m.role, m.content, m.id) for m in found] == [
        ("tool", "I live in Lisbon.", "7"),
        ("user", "And in Porto?", "7#2"),
    ]


def test_empty_optional_fields_count_as_absent(write_file: WriteFile) -> None:
    line = {"role": "user", "content": ""}
    path = write_file(line | {"name": "", "at": "", "id": "", "session": ""}, line)
    first, second = only(read_conversations(path, strict=True))
    assert first.model_copy(update={"id": second.id}) == second
    assert str(first.id).removesuffix("-0") == str(second.id).removesuffix("-1")


def test_nul_and_line_separators_stay_as_they_are(write_file: WriteFile) -> None:
    odd = "a\x00b c\x85d\r\ne \U0001f6f6"
    (message,) = only(read_conversations(write_file({"role": "user", "content": odd})))
    assert message.content == odd


def test_an_id_may_come_again_with_the_same_message_or_in_another_session(
    write_file: WriteFile,
) -> None:
    elsewhere = GOOD | {"session": "later", "content": "Another kettle."}
    file = read_conversations(write_file(GOOD, elsewhere, GOOD), strict=True)
    assert [m.id for m in only(file)] == ["good", "good", "good"]


def test_equal_lines_without_an_id_get_different_ids(write_file: WriteFile) -> None:
    line = {"role": "user", "content": "thanks", "session": "s"}
    ids = [m.id for m in only(read_conversations(write_file(line, line, line)))]
    assert [str(one)[-2:] for one in ids] == ["-0", "-1", "-2"]
    assert len({str(one)[:-2] for one in ids}) == 1
    same = write_file(line, name="moved.jsonl")
    assert only(read_conversations(same))[0].id == ids[0]


def test_every_field_that_is_said_decides_the_made_id(write_file: WriteFile) -> None:
    line: dict[str, object] = {"role": "user", "content": "x", "name": None, "session": None}
    variants = [
        line,
        line | {"role": "assistant"},
        line | {"content": "y"},
        line | {"name": "Nora"},
        line | {"session": "s"},
        line | {"at": "2026-02-01T00:00:00Z"},
        line | {"at": "2026-02-01T00:00:01Z"},
    ]
    assert len({m.id for m in only(read_conversations(write_file(*variants)))}) == len(variants)


def test_a_huge_line_is_refused_and_the_next_one_read(
    write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_module, "MAX_LINE_BYTES", 2**20)
    fits = {"role": "user", "content": "f" * 1_000_000}
    path = write_file(GOOD, {"role": "user", "content": "h" * 5 * 2**20}, fits, GOOD)
    file = read_conversations(path)
    assert [(p.line, p.reason) for p in file.problems] == [(2, "longer than 1 MiB")]
    assert [len(m.content) for m in only(file)] == [17, 1_000_000, 17]
