"""`graphmem ingest`: files of conversations, resumable, each message once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphmem.client import GraphMem
from graphmem.model import Message

Run = Callable[..., Any]


def written(path: Path, lines: Sequence[object]) -> Path:
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines) + "\n")
    return path


def said(n: int) -> dict[str, str]:
    words = ("tram", "kettle", "harbour", "violin", "cactus", "ladder", "orchid", "anchor")
    return {
        "role": "user",
        "content": f"Fact {n}: the {words[n % 8]} has number {n}.",
        "session": f"s{n // 50}",
    }


def test_a_file_is_remembered_once(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "talk.jsonl", [said(n) for n in range(60)])
    first = run("ingest", str(file), "--json")
    assert first.code == 0
    assert first.data["ingested"]["turns_added"] == 60
    again = run("ingest", str(file), "--json").data["ingested"]
    assert (again["messages"], again["turns_added"]) == (60, 0)


def test_what_the_assistant_said_stays_a_turn(run: Run, tmp_path: Path) -> None:
    file = written(
        tmp_path / "talk.jsonl",
        [
            {"role": "user", "content": "I keep bees."},
            {"role": "assistant", "content": "Bees like lavender."},
        ],
    )
    assert run("ingest", str(file), "--json").data["ingested"]["turns_added"] == 2
    assert run("memory", "list", "--json").data["memories"] == []
    turns = run("recall", "lavender", "--json").data["bites"]
    assert any(b["kind"] == "turn" and b["turn"]["role"] == "assistant" for b in turns)


def test_files_of_chat_libraries_are_read_as_they_are(run: Run, tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "map", "arguments": "{}"}}
    file = written(
        tmp_path / "talk.jsonl",
        [
            {"role": "user", "content": [{"type": "text", "text": "I keep bees in Porto."}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"type": "human", "data": {"type": "human", "content": "My name is Nora."}},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm."},
                    {"type": "text", "text": "Hello, Nora."},
                ],
            },
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "I ski too."}]},
            {"role": "ai", "content": "I am not a person."},
            {"role": "critic", "content": "Nor am I."},
        ],
    )
    ended = run("ingest", str(file), "--json")
    assert ended.code == 0
    assert ended.data["ingested"]["turns_added"] == 7
    assert "dropped: 1 thinking" in ended.err
    assert "not a person: role 'critic'" in ended.err
    assert run("ingest", str(file), "--json").data["ingested"]["turns_added"] == 0


def test_times_under_other_keys_are_read_and_other_keys_named(run: Run, tmp_path: Path) -> None:
    lines = [
        {
            "role": "user",
            "content": f"The {thing} is in the shed.",
            key: "2024-03-05T09:00:00Z",
            "mood": "sunny",
        }
        for thing, key in (("axe", "timestamp"), ("saw", "createdAt"), ("rake", "date"))
    ]
    file = written(tmp_path / "talk.jsonl", [json.dumps(line) for line in lines])
    ended = run("ingest", str(file), "--json")
    assert (ended.code, ended.data["unread"]) == (0, {"mood": 3})
    assert "not read: 3 mood" in ended.err
    found = run("recall", "shed", "--kind", "turn", "--json").data["bites"]
    assert [one["turn"]["occurred_at"] for one in found] == ["2024-03-05T09:00:00Z"] * 3


def test_a_broken_line_is_named_and_the_rest_kept(run: Run, tmp_path: Path) -> None:
    lines: list[object] = [*map(said, range(56)), '{"role": "user", "cont', said(99)]
    file = written(tmp_path / "talk.jsonl", lines)
    ended = run("ingest", str(file), "--json")
    assert ended.code == 1
    assert [p["line"] for p in ended.data["problems"]] == [57]
    assert ended.data["ingested"]["turns_added"] == 57
    assert "line 57" in ended.err


def test_strict_takes_nothing(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "talk.jsonl", [said(1), "{"])
    ended = run("ingest", str(file), "--strict")
    assert ended.code == 2
    assert "line 2" in ended.err
    assert run("episode", "list", "--json").data["episodes"] == []


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_path_that_is_no_file_is_named(run: Run, tmp_path: Path, name: str) -> None:
    ended = run("ingest", str(tmp_path / name))
    assert ended.code == 2
    assert "source_file" in ended.err


def test_an_interrupted_run_is_resumed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "talk.jsonl", [said(n) for n in range(120)])
    whole = GraphMem.ingest

    def interrupted(self: Any, messages: Sequence[Message], on_batch: Any) -> Any:
        def stop_after_two(kind: str, count: int) -> None:
            on_batch(kind, count)
            done.append(count)
            if len(done) == 2:
                raise KeyboardInterrupt

        done: list[int] = []
        return whole(self, messages, stop_after_two)

    monkeypatch.setattr(GraphMem, "ingest", interrupted)
    stopped = run("ingest", str(file))
    assert stopped.code == 130
    assert "run it again" in stopped.err
    monkeypatch.setattr(GraphMem, "ingest", whole)
    resumed = run("ingest", str(file), "--json").data["ingested"]
    assert (resumed["messages"], resumed["turns_added"]) == (120, 20)
