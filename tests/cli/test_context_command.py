"""`graphmem context`: its output is exactly the text, to be piped into a prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem.conversation import blocks

Run = Callable[..., Any]


def test_the_output_is_the_text_and_nothing_else(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    words = "The cat is called Biscuit, [bold]sleeps[/bold] on the keys and eats :fish: at seven."
    memory_id = run("memory", "remember", words, "--json").data["memory_id"]
    made = run("context", "what", "is", "the", "cat", "called", "--json").data
    assert (made["ids"], made["left_out"]) == ([memory_id], 0)
    assert f'"{words}"' in made["text"]
    shown = run("context", "what is the cat called")
    assert (shown.code, shown.out, shown.err) == (0, made["text"] + "\n", "")
    assert shown.out.startswith(blocks.OPEN)
    assert run("recall", "cat").out != shown.out


def test_its_options_reach_the_memory(run: Run) -> None:
    for n in range(9):
        run("memory", "remember", f"Fact {n} about the cat of the harbour master.")
    made = run("context", "cat", "--tokens", "150", "--limit", "5", "--json").data
    assert made["tokens"] <= 150
    assert len(made["ids"]) + made["left_out"] == 5
    for policy in ("flat", "engram"):
        found = run("recall", "cat", "--policy", policy, "--json").data["bites"]
        made = run("context", "cat", "--policy", policy, "--tokens", "5000", "--json").data
        assert made["ids"] == [bite["memory"]["id"] for bite in found]
    assert run("context", "cat", "--scope", "user:bob", "--tenant", "nobody").out == ""
    tagged = run("memory", "remember", "The cat has a tag.", "--tag", "t", "--json").data[
        "memory_id"
    ]
    assert run("context", "cat", "--tag", "t", "--json").data["ids"] == [tagged]
    assert run("context", "cat", "--until", "2020-01-01T00:00Z", "--json").data["ids"] == []
    assert run("context", "cat", "--policy", "").code == 2


def test_turns_are_shown_unless_other_kinds_are_asked_for(run: Run, tmp_path: Any) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text('{"role": "assistant", "content": "The cat is called Biscuit."}\n')
    run("ingest", str(file))
    assert run("context", "cat", "--kind", "memory", "--kind", "belief").out == ""
    assert ", AI: " in run("context", "cat").out
    assert run("context", "cat", "--kind", "turns").code == 2


def test_an_empty_context_says_why_aside(run: Run) -> None:
    ended = run("context", "anything")
    assert (ended.code, ended.out) == (0, "")
    assert "No results: nothing is stored in scope 'global'." in ended.err
    data = run("context", "anything", "--json").data
    assert (data["text"], data["ids"]) == ("", [])
