"""`graphmem tenant`, `scope` and `session list`, and the note about a tenant without data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

TEXT = "The cat is called Biscuit."


def tenants(run: Run) -> Iterator[dict[str, Any]]:
    """Yield every tenant, from all pages."""
    cursor: tuple[str, ...] = ()
    while True:
        page = run("tenant", "list", "--limit", "100", "--json", *cursor).data
        yield from page["tenants"]
        if page["next_cursor"] is None:
            return
        cursor = ("--cursor", page["next_cursor"])


def test_tenants_with_data_are_listed_with_their_sizes(run: Run, tenant: str) -> None:
    run("memory", "remember", TEXT)
    run("belief", "observe", "alice", "likes", "tea", "--scope", "user:alice")
    only_searched = f"{tenant}-searched"
    run("recall", "cat", "--tenant", only_searched)
    found = list(tenants(run))
    names = [one["name"] for one in found]
    assert names == sorted(names)
    assert len(names) == len(set(names))
    assert only_searched not in names
    [mine] = [one for one in found if one["name"] == tenant]
    assert mine == {"name": tenant, "memories": 1, "beliefs": 1, "episodes": 0, "namespaces": 0}
    shown = run("tenant", "list", "--limit", "1")
    assert "more: --cursor" in shown.out
    assert shown.out.split()[:3] == ["tenant", "memories", "beliefs"]
    assert run("tenant", "list", "--limit", "0").code == 2
    assert run("tenant", "list", "--cursor", "x").code == 2


def test_scopes_of_one_tenant_are_listed(run: Run, tenant: str) -> None:
    run("memory", "remember", TEXT)
    run("memory", "remember", "Alice keeps bees.", "--scope", "user:alice")
    run("belief", "observe", "bob", "likes", "tea", "--scope", "user:bob")
    run("episode", "add", "--summary", "A walk", "--scope", "user:carol")
    run("memory", "remember", TEXT, "--tenant", f"{tenant}-2", "--scope", "user:dora")
    found = run("scope", "list", "--json").data["scopes"]
    assert [(one["name"], one["memories"], one["beliefs"], one["episodes"]) for one in found] == [
        ("global", 1, 0, 0),
        ("user:alice", 1, 0, 0),
        ("user:bob", 0, 1, 0),
        ("user:carol", 0, 0, 1),
    ]
    page = run("scope", "list", "--limit", "2", "--json").data
    rest = run("scope", "list", "--cursor", page["next_cursor"], "--json").data
    assert [*page["scopes"], *rest["scopes"]] == found
    assert rest["next_cursor"] is None
    assert "user:carol" in run("scope", "list").out


def test_sessions_of_the_read_scopes_are_listed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    messages = [
        {"role": "user", "content": f"I like {what}.", "session": session, "at": f"{day}T09:00:00Z"}
        for what, session, day in (
            ("tea", "monday", "2026-03-02"),
            ("milk", "tuesday", "2026-03-03"),
        )
    ]
    file.write_text("\n".join(map(json.dumps, messages)))
    assert run("ingest", str(file), "--scope", "user:alice").code == 0
    run("episode", "add", "--summary", "A document", "--scope", "user:alice")
    alice = ("--scope", "user:alice")
    found = run("session", "list", "--json", *alice).data["episodes"]
    assert {one["session_id"] for one in found} == {"monday", "tuesday"}
    assert [one["turns"] for one in found] == [1, 1]
    shown = run("session", "list", *alice).out
    assert "session monday of " in shown
    assert f"\n  {found[0]['id'][:7]}\n" in shown
    assert run("session", "list", "--scope", "user:bob").out == "No sessions.\n"
    assert run("session", "list", "--until", "2020-01-01", *alice).out == "No sessions.\n"


def test_a_tenant_without_data_is_named(run: Run, tenant: str, tmp_path: Path) -> None:
    note = f"Tenant {tenant!r} has no data."
    for command in (("memory", "list"), ("recall", "cat"), ("scope", "list"), ("recall", "cat")):
        ended = run(*command)
        assert (ended.code, ended.err.strip()) == (0, note)
    listed = run("memory", "list", "--json")
    assert (listed.code, listed.data["memories"], listed.err.strip()) == (0, [], note)
    missing = run("why", "b_1")
    assert missing.code == 1
    assert note in missing.err
    refused = run("why", "b_1", "--json")
    assert refused.err.startswith("{")
    run("memory", "remember", TEXT)
    assert run("memory", "list").err == ""
    assert note not in run("why", "b_1").err


def test_a_tenant_without_data_is_not_exported(run: Run, tenant: str, tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    ended = run("admin", "export", str(file))
    assert ended.code == 1
    assert f"Tenant {tenant!r} has no data to export." in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "write",
    [
        ("memory", "remember", TEXT),
        ("belief", "observe", "alice", "likes", "tea"),
        ("episode", "add", "--summary", "A walk"),
        ("predicate", "declare", "likes"),
        ("alias", "add", "Bob", "Robert"),
    ],
)
def test_any_write_makes_a_tenant_known(run: Run, write: tuple[str, ...]) -> None:
    ended = run(*write)
    assert (ended.code, ended.err) == (0, "")
