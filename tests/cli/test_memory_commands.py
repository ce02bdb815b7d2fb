"""`graphmem memory` and `graphmem recall`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


def test_a_memory_lives_its_whole_life(run: Run) -> None:
    added = run("memory", "remember", "The limit is 100 requests.", "--tag", "api", "--json")
    assert added.code == 0
    assert added.data["outcome"] == "INSERTED_NEW"
    old = added.data["memory_id"]

    done = run(
        "memory", "supersede", old, "The limit is 200 requests.", "--reason", "load test", "--json"
    ).data
    assert done["older_id"] == old
    new = done["newer_id"]

    listed = run("memory", "list", "--json").data["memories"]
    assert [m["id"] for m in listed] == [new]
    hidden = run("memory", "list", "--status", "superseded", "--status", "current", "--json").data[
        "memories"
    ]
    assert {m["id"] for m in hidden} == {old, new}
    assert run("memory", "get", old, "--json").data["head_ids"] == [new]

    found = run("recall", "what", "is", "the", "limit", "--json").data
    assert [b["memory"]["id"] for b in found["bites"]] == [new]
    found = run("recall", "limit", "--include-hidden", "--json").data
    assert {b["memory"]["id"] for b in found["bites"]} == {old, new}

    assert run("memory", "deprecate", new, "--reason", "wrong").code == 0
    assert run("memory", "get", new, "--json").data["status"] == "deprecated"
    assert run("memory", "restore", new).code == 0
    assert run("memory", "get", new, "--json").data["status"] == "current"

    types = [e["type"] for e in run("memory", "history", new, "--json").data]
    assert types == ["ADD", "SUPERSEDE", "DEPRECATE", "RESTORE"]
    chain = run("memory", "chain", old, "--json").data
    assert chain["head_ids"] == [new]


def test_the_past_is_shown_as_it_was(run: Run) -> None:
    day = "2025-05-0{}T00:00:00+00:00".format
    added = run("memory", "remember", "The limit is 100.", "--at", day(1), "--json").data
    old = added["memory_id"]
    known = run("memory", "history", old, "--json").data[0]["recorded_at"]
    new = run("memory", "supersede", old, "The limit is 200.", "--at", day(3), "--json").data[
        "newer_id"
    ]

    for then in (("--valid", day(2)), ("--known", known), ("--valid", day(2), "--known", known)):
        found = run("memory", "get", old, "--json", *then).data
        assert (found["status"], found["head_ids"]) == ("current", [])
        listed = run("memory", "list", "--json", *then).data["memories"]
        assert [m["id"] for m in listed] == [old]
        assert [e["type"] for e in run("memory", "history", old, "--json", *then).data] == ["ADD"]
        assert run("memory", "chain", old, "--json", *then).data["head_ids"] == [old]
        assert run("memory", "get", new, *then).code == 1
    assert run("memory", "get", old, "--valid", day(3), "--json").data["head_ids"] == [new]
    assert run("memory", "list", "--valid", "2025-04-01T00:00:00Z", "--json").data["memories"] == []


@pytest.mark.parametrize(
    "command", [("list",), ("get", "m_1"), ("history", "m_1"), ("chain", "m_1")]
)
@pytest.mark.parametrize(
    ("option", "given", "said"),
    [
        ("--valid", "2026-13-01", "must be a time such as 2026-03-01"),
        ("--known", "soon", "must be a time such as 2026-03-01"),
        ("--known", "2996-01-01T00:00:00Z", "must not be in the future"),
        ("--valid", "0001-01-01T00:00:00+14:00", "before the year 1"),
    ],
)
def test_a_wrong_time_is_a_usage_error(
    run: Run, command: tuple[str, ...], option: str, given: str, said: str
) -> None:
    ended = run("memory", *command, option, given)
    assert ended.code == 2
    assert said in ended.out + ended.err


def test_people_see_the_content_the_reasons_and_the_short_id(run: Run) -> None:
    memory_id = run("memory", "remember", "The cat is called Biscuit.", "--json").data["memory_id"]
    shown = run("recall", "cat")
    assert "● The cat is called Biscuit." in shown.out
    assert f" {memory_id[:6]}   score" in shown.out
    assert "bm25" in shown.out
    for view in (("memory", "get", memory_id), ("memory", "list"), ("memory", "chain", memory_id)):
        assert "The cat is called Biscuit." in run(*view).out
    assert "ADD" in run("memory", "history", memory_id).out


def test_an_empty_recall_says_why(run: Run) -> None:
    assert "nothing is stored in scope 'global'" in run("recall", "anything").out
    memory_id = run("memory", "remember", "The cat is called Biscuit.", "--json").data["memory_id"]
    run("memory", "deprecate", memory_id)
    assert "1 hidden: deprecated" in run("recall", "cat").out


def test_list_pages_by_its_cursor(run: Run) -> None:
    for n in range(5):
        assert run("memory", "remember", f"Fact number {n} of this list.").code == 0
    seen: list[str] = []
    cursor: list[str] = []
    sizes = []
    while cursor != ["--cursor", None]:
        page = run("memory", "list", "--limit", "2", "--json", *cursor).data
        seen += [m["content"] for m in page["memories"]]
        sizes.append(len(page["memories"]))
        cursor = ["--cursor", page["next_cursor"]]
    assert len(seen) == len(set(seen)) == 5
    assert sizes == [2, 2, 1]


def test_scopes_of_the_command_line_are_walls(run: Run) -> None:
    run("memory", "remember", "Alice keeps bees.", "--scope", "user:alice")
    assert run("recall", "bees", "--scope", "user:alice", "--json").data["bites"]
    assert not run("recall", "bees", "--scope", "user:bob", "--json").data["bites"]


def test_an_error_is_json_when_json_was_asked_for(run: Run) -> None:
    import json

    ended = run("memory", "get", "m_nope", "--json")
    assert json.loads(ended.err)["error"]["code"] == "not_found"
    assert ended.out == ""


def test_a_server_that_is_not_there_ends_with_3(run: Run) -> None:
    ended = run("recall", "cats", "--uri", "bolt://127.0.0.1:1")
    assert ended.code == 3
    assert "graph_unavailable" in ended.err


def test_a_wrong_password_is_named_and_never_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_PASSWORD", "not-the-password")
    ended = run("recall", "cats")
    assert ended.code == 3
    assert "graph_access" in ended.err
    assert "not-the-password" not in ended.err + ended.out
