"""The LoCoMo and BEAM layouts, on small files, on a sample and on the real ones."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench.conversations import read_conversations
from graphmem.adapters.conversations import ConversationFile
from graphmem.errors import SourceFileError
from tests.plugins.samples import on_each


def locomo() -> dict[str, object]:
    return {
        "sample_id": "walk-1",
        "qa": [{"question": "?"}],
        "conversation": {
            "speaker_a": "Nora",
            "speaker_b": "Otis",
            "session_10_date_time": "12:05 am on 2 March, 2026",
            "session_10": [{"speaker": "Otis", "dia_id": "D10:1", "text": "Still up?"}],
            "session_2_date_time": "12:30 pm on 1 February, 2026",
            "session_2": [
                {"speaker": "Nora", "dia_id": "D2:1", "text": "Look!", "blip_caption": "a heron"},
                {"speaker": "Otis", "dia_id": "D2:2", "text": "Splendid."},
            ],
            "session_11_date_time": "1:00 pm on 3 March, 2026",
        },
    }


def beam() -> list[dict[str, object]]:
    def turn(first: int, *, anchor: str | None) -> list[dict[str, object]]:
        asked: dict[str, object] = {
            "role": "user",
            "id": first,
            "content": f"Question {first} about ->-> arrows? ->-> 1,{first}",
        }
        if anchor:
            asked["time_anchor"] = anchor
        return [asked, {"role": "assistant", "id": first + 1, "content": "Answer.\n"}]

    return [
        {
            "batch_number": 1,
            "time_anchor": None,
            "turns": [turn(0, anchor="January-31-2026"), turn(2, anchor=None)],
        },
        {"batch_number": 2, "time_anchor": "February-02-2026", "turns": [turn(4, anchor=None)]},
        {"batch_number": 3, "turns": [turn(6, anchor=None)]},
    ]


def written(tmp_path: Path, document: object) -> Path:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(document), "utf-8")
    return path


@pytest.mark.parametrize("document", [[locomo()], locomo()])
def test_locomo_is_read_in_the_order_of_its_sessions(tmp_path: Path, document: object) -> None:
    path = written(tmp_path, document)
    (talk,) = read_conversations(path, strict=True).conversations
    assert talk.name == "walk-1"
    february = datetime(2026, 2, 1, 12, 30, tzinfo=UTC)
    assert [(m.id, m.session, m.name, m.role, m.content, m.at) for m in talk.messages] == [
        ("walk-1/D2:1", "walk-1/session_2", "Nora", "user", "Look! [image: a heron]", february),
        (
            "walk-1/D2:2",
            "walk-1/session_2",
            "Otis",
            "user",
            "Splendid.",
            february + timedelta(seconds=1),
        ),
        (
            "walk-1/D10:1",
            "walk-1/session_10",
            "Otis",
            "user",
            "Still up?",
            datetime(2026, 3, 2, 0, 5, tzinfo=UTC),
        ),
    ]


def test_locomo_over_several_lines_is_one_value(tmp_path: Path) -> None:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(locomo(), indent=2), "utf-8")
    assert len(read_conversations(path).conversations[0].messages) == 3


@pytest.mark.parametrize(
    ("key", "value", "reason", "kept"),
    [
        ("session_2_date_time", "soon", "walk-1/session_2: the date is missing or unreadable", 3),
        ("session_2_date_time", None, "walk-1/session_2: the date is missing or unreadable", 3),
        ("session_2_date_time", "0:30 pm on 1 May, 2026", "the date is missing or unreadable", 3),
        (
            "session_2_date_time",
            "1:30 pm on 31 April, 2026",
            "the date is missing or unreadable",
            3,
        ),
        ("session_2", "gone", "walk-1/session_2: expected a list of turns", 1),
        ("session_2", [3], "walk-1/session_2, turn 1: expected an object with speaker", 1),
        ("session_2", [{"dia_id": "D2:1"}], "turn 1: dia_id or text is missing", 1),
        ("session_2", [{"dia_id": "D2:1", "text": "\ud800"}], "content must be valid Unicode", 1),
        ("session_10_date_time", "11:59 pm on 31 December, 9999", None, 3),
    ],
)
def test_an_invalid_locomo_session_is_reported(
    tmp_path: Path, key: str, value: object, reason: str | None, kept: int
) -> None:
    sample = locomo()
    conversation = sample["conversation"]
    assert isinstance(conversation, dict)
    conversation[key] = value
    path = written(tmp_path, [sample])
    file = read_conversations(path)
    assert len(file.conversations[0].messages) == kept
    assert [reason in p.text for p in file.problems if reason] == ([True] if reason else [])
    if reason:
        with pytest.raises(SourceFileError):
            read_conversations(path, strict=True)


def test_a_locomo_sample_without_a_name_or_talk_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, [locomo(), {"conversation": {}}, {"sample_id": "b"}, 7])
    file = read_conversations(path)
    assert [talk.name for talk in file.conversations] == ["walk-1"]
    assert [p.text for p in file.problems] == [
        "sample 2: sample_id is missing",
        "sample 3: conversation is missing",
        "sample 4: expected an object with sample_id and conversation",
    ]


def test_the_end_of_time_is_a_problem_of_the_turn(tmp_path: Path) -> None:
    sample = locomo()
    turns = [{"speaker": "Nora", "dia_id": f"D2:{n}", "text": "tick"} for n in range(61)]
    sample["conversation"] = {
        "session_2_date_time": "11:59 pm on 31 December, 9999",
        "session_2": turns,
    }
    file = read_conversations(written(tmp_path, sample))
    assert [p.text for p in file.problems] == [
        "walk-1/session_2, turn 61: the date is after the year 9999"
    ]


def test_beam_is_read_with_dates_carried_forward(tmp_path: Path) -> None:
    (talk,) = read_conversations(written(tmp_path, beam()), strict=True).conversations
    assert [m.content for m in talk.messages[:2]] == ["Question 0 about ->-> arrows?", "Answer.\n"]
    assert [str(m.id).removeprefix(talk.name) for m in talk.messages] == [f"/{n}" for n in range(8)]
    assert [str(m.session).removeprefix(talk.name) for m in talk.messages[::2]] == [
        "/batch_1",
        "/batch_1",
        "/batch_2",
        "/batch_3",
    ]
    january, february = (datetime(2026, m, d, tzinfo=UTC) for m, d in ((1, 31), (2, 2)))
    assert [m.at for m in talk.messages] == [
        (january if n < 4 else february) + timedelta(seconds=n) for n in range(8)
    ]
    assert [m.role for m in talk.messages[:2]] == ["user", "assistant"]


def test_a_beam_chat_keeps_its_name_when_it_moves_or_grows(tmp_path: Path) -> None:
    whole, part = beam(), beam()[:1]
    names = {
        read_conversations(written(tmp_path, document)).conversations[0].name
        for document in (whole, part)
    }
    assert len(names) == 1
    other = json.loads(json.dumps(whole).replace("Question 0", "Question zero"))
    assert read_conversations(written(tmp_path, other)).conversations[0].name not in names


@pytest.mark.parametrize(
    ("ending", "kept"),
    [
        (" ->-> 1,12", ""),
        (" ->->  1,1", ""),
        (" ->-> 2,N/A", ""),
        (" ->-> 5,14)", ""),
        ("->-> 1,1\n", ""),
        (" ->-> onwards", " ->-> onwards"),
        (" ->-> 1,1 and more", " ->-> 1,1 and more"),
        (" -> 1,1", " -> 1,1"),
    ],
)
def test_only_the_annotation_at_the_end_is_taken_off(
    tmp_path: Path, ending: str, kept: str
) -> None:
    turns = [[{"role": "user", "id": 0, "content": "Hello" + ending}]]
    path = written(tmp_path, [{"turns": turns}])
    (message,) = read_conversations(path).conversations[0].messages
    assert message.content == "Hello" + kept
    assert message.at is None


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (5, "batch 4: expected an object with a list of turns"),
        ({"turns": None}, "batch 4: expected an object with a list of turns"),
        ({"turns": [["x"]]}, "batch 4, turn 1: expected a list of messages"),
        ({"turns": ["x"]}, "batch 4, turn 1: expected a list of messages"),
        ({"turns": [[{"role": "user", "id": 9}]]}, "batch 4, turn 1: content is missing"),
        (
            {"turns": [[{"role": "user", "content": "hm", "id": True}]]},
            "batch 4, turn 1: id is true or false, expected text",
        ),
        (
            {"time_anchor": "Someday", "turns": [[{"role": "user", "content": "hm"}]]},
            "batch 4, turn 1: the date is missing or unreadable",
        ),
    ],
)
def test_an_invalid_beam_batch_is_reported(tmp_path: Path, batch: object, reason: str) -> None:
    path = written(tmp_path, [*beam(), batch])
    file = read_conversations(path)
    assert len(file.problems) == 1
    assert file.problems[0].text.startswith(reason)
    with pytest.raises(SourceFileError, match=reason):
        read_conversations(path, strict=True)


def assert_sound(file: ConversationFile) -> None:
    assert file.problems == ()
    for talk in file.conversations:
        instants = [m.at for m in talk.messages if m.at]
        assert len(instants) == len(talk.messages)
        assert instants == sorted(instants)


@on_each(
    ("file", "conversations", "messages", "sessions", "images"),
    "locomo/locomo.json",
    sample=(2, 14, 5, 2),
    real=(6, 3643, 169, 756),
)
def test_a_file_of_locomo_is_read_whole(
    file: Path, conversations: int, messages: int, sessions: int, images: int
) -> None:
    read = read_conversations(file, strict=True)
    assert_sound(read)
    found = [m for talk in read.conversations for m in talk.messages]
    assert (len(read.conversations), len(found)) == (conversations, messages)
    assert len({m.id for m in found}) == messages
    assert len({m.session for m in found}) == sessions
    assert sum(" [image: " in m.content for m in found) == images


@on_each(
    ("folder", "files", "messages", "sessions"),
    "beam",
    sample=(1, 24, 2),
    real=(10, 2432, 40),
)
def test_the_chats_of_beam_are_read_whole(
    folder: Path, files: int, messages: int, sessions: int
) -> None:
    chats = [read_conversations(path, strict=True) for path in folder.glob("*/chat.json")]
    found = [m for file in chats for talk in file.conversations for m in talk.messages]
    assert (len(chats), len(found), len({m.id for m in found})) == (files, messages, messages)
    assert len({m.session for m in found}) == sessions
    assert not any("->->" in m.content for m in found)
    for file in chats:
        assert_sound(file)


def test_a_beam_message_without_an_id_is_given_one(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text('[{"turns": [[{"role": "user", "content": "Tea, please."}]]}]', "utf-8")
    [first], [again] = (read_conversations(path).conversations[0].messages for _ in range(2))
    assert first.id is not None
    assert first.id == again.id
