"""`graphmem admin`, and what every command has."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, LiteralString

import click
import pytest

from graphmem.cli import COMMANDS
from graphmem.graph import catalog
from tests.plugins.command_tree import walk
from tests.plugins.foreign import put
from tests.plugins.graph import Look

Run = Callable[..., Any]


def test_a_current_schema_has_nothing_pending_and_no_drift(run: Run) -> None:
    assert run("admin", "migrate", "--plan", "--json").data == {"pending": []}
    assert run("admin", "migrate", "--json").data == {"applied": []}
    checked = run("admin", "migrate", "--check", "--json")
    assert checked.data == {"pending": [], "differences": []}
    assert checked.code == 0


def test_a_difference_is_shown_with_its_detail(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphmem.client import schema
    from graphmem.schema import Difference

    found = Difference(kind="missing", name="some_index", text="RANGE on X(y) is missing.")
    monkeypatch.setattr(schema.SchemaClient, "drift", lambda _: (found,))
    for args in ((), ("--json",)):
        checked = run("admin", "migrate", "--check", *args)
        assert checked.code == 1
        assert "RANGE on X(y) is missing." in checked.out


def test_another_language_is_due_and_a_difference(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_LANGUAGE", "german")
    assert run("admin", "migrate", "--plan", "--json").data == {"pending": ["0003_schema_fulltext"]}
    checked = run("admin", "migrate", "--check")
    assert checked.code == 1
    for label in ("Turn", "Episode"):
        assert f"wanted FULLTEXT on {label}" in checked.out
    assert "analyzer german" in checked.out
    refused = run("memory", "list", "--json")
    assert refused.code == 2
    assert "language_mismatch" in refused.err
    monkeypatch.setenv("GRAPHMEM_LANGUAGE", "klingon")
    refused = run("admin", "migrate")
    assert refused.code == 2
    assert "german" in refused.err
    monkeypatch.delenv("GRAPHMEM_LANGUAGE")
    assert run("admin", "migrate", "--check").code == 0


def test_caches_are_compared_and_made_anew(run: Run, look: Look, tenant: str) -> None:
    added = run("memory", "remember", "The user lives in Porto", "--json").data
    assert run("admin", "verify", "--json").data["wrong"] == []
    look._driver.execute_query(
        "MATCH (m:Memory {tenant: $tenant}) SET m.status = 'deprecated'", tenant=tenant
    )
    wrong = run("admin", "verify")
    assert wrong.code == 1
    assert "deprecated" in wrong.out
    assert run("admin", "rebuild").code == 0
    assert run("admin", "verify").code == 0
    assert run("memory", "get", added["memory_id"], "--json").data["status"] == "current"


def test_the_numbers_of_a_tenant(run: Run, tenant: str) -> None:
    run("memory", "remember", "The user lives in Porto")
    run("episode", "add", "--summary", "a paper")
    found = run("admin", "stats", "--json").data
    assert (found["tenant"], found["memories"]["current"], found["episodes"]) == (tenant, 1, 1)
    assert found["consolidation"]["decided"] == 0
    shown = run("admin", "stats").out
    assert re.search(r"memories +current +1 ", shown)
    assert re.search(r"episodes +1 ", shown)
    assert "superseded" not in shown
    assert "sessions to rate" in shown
    assert run("admin", "stats", "--tenant", f"{tenant} not", "--json").data["episodes"] == 0


def test_episodes_are_listed_page_by_page(run: Run) -> None:
    for n in (1, 2):
        at = f"2025-05-0{n}T00:00:00+00:00"
        run("episode", "add", "--episode-id", f"p{n}", "--summary", f"Paper {n}.", "--at", at)
    run("episode", "add", "--episode-id", "p3", "--session-id", "s")
    first = run("episode", "list", "--limit", "2").out
    assert re.search(r"session s of .*\n  p3   0 turns\nepisode of 2 May 2025   Paper 2\.", first)
    cursor = first.rpartition("--cursor ")[2].strip()
    rest = run("episode", "list", "--limit", "2", "--cursor", cursor).out
    assert "p1" in rest
    assert "--cursor" not in rest

    def ids(*options: str) -> list[str]:
        page = run("episode", "list", "--json", *options).data
        return [one["id"] for one in page["episodes"]]

    assert ids() == ids("--include-archived") == ["p3", "p2", "p1"]
    assert ids("--session-id", "s") == ["p3"]
    assert ids("--since", "2025-05-02T00:00:00Z", "--until", "2025-06-01T00:00:00Z") == ["p2"]
    assert ids("--valid", "2025-05-01T12:00:00Z") == ["p1"]


def test_memories_without_events_are_backfilled(run: Run, look: Look, tenant: str) -> None:
    for name in ("a", "b"):
        put(look, tenant, name, created_at=datetime(2025, 5, 5, tzinfo=UTC))
    wrong = run("admin", "verify")
    assert wrong.code == 1
    assert "backfill" in wrong.out
    done = run("admin", "backfill")
    assert done.code == 0
    assert "Events created for 2 memories." in done.out
    assert "Every cache matches its events." in run("admin", "verify").out
    again = run("admin", "backfill")
    assert (again.code, "Nothing to backfill." in again.out) == (0, True)


def test_what_cannot_be_backfilled_is_shown_with_what_to_do(
    run: Run, look: Look, tenant: str
) -> None:
    put(look, tenant, "[red]one")
    shown = run("admin", "backfill")
    assert shown.code == 1
    for part in ("created_at must be", "SET m.created_at", "[red]one"):
        assert part in " ".join(shown.out.split())
    told = run("admin", "backfill", "--json")
    assert told.code == 1
    assert told.data["skipped"][0]["ids"] == ["[red]one"]
    wrong = run("admin", "verify", "--json").data["wrong"]
    assert [mismatch["id"] for mismatch in wrong] == ["[red]one"]


def test_the_catalog_is_listed_and_shown(run: Run) -> None:
    listed = run("admin", "cypher", "list", "--json").data
    assert [p["name"] for p in listed] == list(catalog.names())
    assert "recall/current" in run("admin", "cypher", "list").out
    shown = run("admin", "cypher", "show", "commit/find_existing").out
    assert '// :param tenant => ""; ' in shown
    assert "include:" not in shown
    for name in ("commit/nothing", "../cypher/commit/find_existing", "x" * 9_000):
        refused = run("admin", "cypher", "show", name)
        assert refused.code == 1
        assert "admin cypher list" in refused.err
        assert len(refused.err) < 400


def test_settings_are_listed_without_secrets(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_PASSWORD", "a-secret-of-mine")
    for args in (("admin", "settings"), ("admin", "settings", "--json")):
        shown = run(*args)
        assert shown.code == 0
        assert "a-secret-of-mine" not in shown.out
    assert "GRAPHMEM_NEAR_DUPLICATE_THRESHOLD" in run("admin", "settings").out


def test_keys_of_policies_are_settings(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_PRUNING__ARCHIVE_DAYS", "5")
    shown = run("admin", "settings", "--json").data
    assert shown["pruning.archive_days"] == {"value": 5.0, "origin": "environment"}
    assert shown["pruning.compress_days"]["origin"] == "default"
    text = run("admin", "settings").out
    assert "GRAPHMEM_PRUNING__ARCHIVE_DAYS  5.0  from environment" in text
    assert "Days until a VERY_LOW episode is archived." in text


def test_a_setting_that_does_not_fit_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_MAX_POOL_SIZE", "many")
    ended = run("admin", "settings")
    assert ended.code == 2
    assert "GRAPHMEM_MAX_POOL_SIZE" in ended.err
    monkeypatch.delenv("GRAPHMEM_MAX_POOL_SIZE")
    monkeypatch.setenv("GRAPHMEM_PORT", "7687")
    assert "GRAPHMEM_PORT" in run("admin", "settings").err


def test_every_command_says_what_it_is_for() -> None:
    for path, command in walk():
        assert command.help, path
        for param in command.params:
            if isinstance(param, click.Option):
                assert param.help, f"{path} {param.name}"


def test_the_top_level_help_is_that_of_the_commands() -> None:
    for name, (home, text) in COMMANDS.items():
        module, _, attribute = home.partition(":")
        command = getattr(importlib.import_module(f"graphmem.cli.{module}"), attribute)
        assert command.name == name
        assert command.help.splitlines()[0] == text


def test_every_leaf_offers_json() -> None:
    for path, command in walk():
        if not isinstance(command, click.Group):
            assert any("--json" in param.opts for param in command.params), path


def test_events_are_sealed_and_compared(run: Run, look: Look, tenant: str, tmp_path: Path) -> None:
    assert "Nothing to seal." in run("admin", "seal").out
    run("memory", "remember", "The user lives in Porto")
    assert "No seals; 1 events can be sealed" in run("admin", "verify").out
    head = run("admin", "seal", "--json").data["head"]
    same = run("admin", "verify", "--head", head)
    assert same.code == 0
    assert f"Head: {head}" in same.out
    assert "is that of seal 000000000001" in same.out
    file = str(tmp_path / "all.jsonl")
    run("admin", "export", file)
    whole = run("admin", "verify-export", file, "--head", head)
    assert (whole.code, "The file is whole." in whole.out) == (0, True)
    assert run("admin", "verify-export", file, "--head", "0" * 64).code == 1

    query: LiteralString = "MATCH (e:Event {tenant: $tenant}) SET e.actor = 'me'"
    look._driver.execute_query(query, tenant=tenant)
    wrong = run("admin", "verify", "--json")
    assert wrong.code == 1
    assert [(one["kind"], one["found"][:7]) for one in wrong.data["wrong"]] == [
        ("event", "changed")
    ]
    assert "changed" in run("admin", "verify").out
    assert run("admin", "verify", "--head", "x").code == 2
