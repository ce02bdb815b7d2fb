"""The LoCoMo and BEAM layouts, on small files, on a sample and on the real ones."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench.conversations import read_conversations
from graphmem.cli.conversation_files import Conversation
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


def test_locomo_is_read_in_the_order_of_its_sessions(tmp_path: Path) -> None:
    (talk,) = read_conversations(written(tmp_path, [locomo()]))
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


def test_beam_is_read_with_dates_carried_forward(tmp_path: Path) -> None:
    (talk,) = read_conversations(written(tmp_path, beam()))
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
    names = {read_conversations(written(tmp_path, document))[0].name for document in (whole, part)}
    assert len(names) == 1
    other = json.loads(json.dumps(whole).replace("Question 0", "Question zero"))
    assert read_conversations(written(tmp_path, other))[0].name not in names


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
    (message,) = read_conversations(path)[0].messages
    assert message.content == "Hello" + kept
    assert message.at is None


def assert_sound(talks: list[Conversation]) -> None:
    for talk in talks:
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
    talks = read_conversations(file)
    assert_sound(talks)
    found = [m for talk in talks for m in talk.messages]
    assert (len(talks), len(found)) == (conversations, messages)
    assert len({m.id for m in found}) == messages
    assert len({m.session for m in found}) == sessions
    assert sum(" [image: " in m.content for m in found) == images


@on_each(
    ("folder", "files", "messages", "sessions"), "beam", sample=(1, 24, 2), real=(10, 2432, 40)
)
def test_the_chats_of_beam_are_read_whole(
    folder: Path, files: int, messages: int, sessions: int
) -> None:
    chats = [talk for path in folder.glob("*/chat.json") for talk in read_conversations(path)]
    found = [m for talk in chats for m in talk.messages]
    assert (len(chats), len(found), len({m.id for m in found})) == (files, messages, messages)
    assert len({m.session for m in found}) == sessions
    assert not any("->->" in m.content for m in found)
    assert_sound(chats)


def test_a_beam_message_without_an_id_is_given_one(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text('[{"turns": [[{"role": "user", "content": "Tea, please."}]]}]', "utf-8")
    [first], [again] = (read_conversations(path)[0].messages for _ in range(2))
    assert first.id is not None
    assert first.id == again.id
