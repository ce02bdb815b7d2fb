"""`graphmem usage`, as people and programs read it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import GraphMem
from graphmem.cli import app, options
from graphmem.settings import Settings
from graphmem.testing import FrozenClock, HashEmbedder
from tests.plugins.clients import on
from tests.plugins.graph import Look

Run = Callable[..., Any]
ROSES = [f"The garden has {n} red roses" for n in ("two", "three", "nine", "forty")]
ASKED = "red roses in the garden"


@pytest.fixture
def used(run: Run, migrated: Settings, tenant: str) -> str:
    """A tenant in which one of four memories was opened whenever it was found."""
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        memory = client.tenant(tenant)
        for text in ROSES:
            memory.remember(text)
        last = memory.recall(ASKED).bites[-1]
        for n in range(5):
            with memory.session(f"s{n}", agent="planner") as session:
                session.recall(ASKED)
                session.expand(last.id)
                session.usage.log_access("file", "garden.md")
    return last.text


def test_nothing_is_known_of_what_nobody_asked(run: Run) -> None:
    assert "Nothing new" in run("usage", "rate").out
    assert "No searches yet." in run("usage", "dashboard").out
    assert run("usage", "rate", "--json").data == {
        "sessions": 0,
        "abandoned": 0,
        "searches": 0,
        "updates": 0,
    }


def test_what_is_opened_comes_to_the_top(run: Run, used: str) -> None:
    before = run("usage", "dashboard").out
    assert "Nothing is rated yet; run `graphmem usage rate`." in before
    assert f"recall: {ASKED}" in before
    assert "garden.md" in before
    assert "5 sessions ended; 5 searches were rated; 20 ratings changed." in (
        run("usage", "rate").out
    )
    assert "Nothing new" in run("usage", "rate").out
    shown = run("usage", "dashboard").out
    for words in ("most used", "tiers", "recent activity", "recent ratings", "s4"):
        assert words in shown
    data = run("usage", "dashboard", "--json", "--limit", "2").data
    assert data["top"][0]["text"] == used
    assert data["top"][0]["rating"]["tier"] == "MEDIUM"
    assert [len(data[part]) for part in ("top", "activity", "updates")] == [2, 2, 2]
    assert data["tiers"] == {"HIGH": 0, "MEDIUM": 1, "LOW": 3, "VERY_LOW": 0}
    assert run("usage", "rate", "--from-scratch", "--json").data["updates"] == 20
    again = run("usage", "dashboard", "--json", "--limit", "2").data
    assert [one["id"] for one in again["top"]] == [one["id"] for one in data["top"]]


def test_an_audit_shows_sessions_and_findings(run: Run, used: str) -> None:
    shown = run("usage", "audit", "--session-id", "s4")
    assert (shown.code, "planner" in shown.out) == (0, True)
    assert "No protocol violations." in shown.out
    # The search that looked for what to open had no session.
    whole = run("usage", "audit")
    assert (whole.code, "without a session id" in whole.out) == (1, True)
    data = run("usage", "audit", "--json").data
    assert [one["session_id"] for one in data["sessions"]] == ["s4", "s3", "s2", "s1", "s0"]
    assert data["findings"][0]["severity"] == "error"
    assert "Nothing was logged" in run("usage", "audit", "--session-id", "nobody").out
    assert run("usage", "audit", "--days", "0").code == 2


def test_commands_of_a_terminal_are_of_one_session(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = run("memory", "remember", ROSES[0], "--json").data["memory_id"]
    run("recall", "roses")
    run("context", "roses")
    run("expand", memory_id)
    run("usage", "log-search", "roses", "--tool", "rg", "--result", memory_id)
    run("usage", "log-access", "file", "garden.md")
    clean = run("usage", "audit", "--json")
    assert (clean.code, clean.data["findings"]) == (0, [])
    [name] = {session["session_id"] for session in clean.data["sessions"]}
    assert {session["agent"] for session in clean.data["sessions"]} == {"cli"}
    assert name == app.terminal_session()
    assert f"{options.now():%Y-%m-%d}" in name

    monkeypatch.setattr(options, "now", lambda: datetime(2031, 5, 1, tzinfo=UTC))
    assert "cli-2031-05-01-" in app.terminal_session()


def test_files_that_commands_find_and_open_are_rated(
    run: Run, migrated: Settings, tenant: str
) -> None:
    results = ("--result", "a.py", "--result", "symbol:app.main", "--result", "b.py")
    assert run("usage", "log-search", "def main", "--tool", "rg", *results).code == 0
    assert run("usage", "log-access", "symbol", "app.main").code == 0
    # The session of a terminal is over a day after its last command.
    assert run("usage", "rate", "--json").data["searches"] == 0
    clock = FrozenClock(datetime.now(UTC) + timedelta(days=1, minutes=1))
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        done = on(client.tenant(tenant), clock=clock).usage.rate()
    assert (done.abandoned, done.searches, done.updates) == (1, 1, 3)
    listed = run("usage", "ratings", "--kind", "Artifact", "--json").data
    assert [(one["text"], one["rating"]["elo"] > 1200) for one in listed] == [
        *(("app.main", True), ("a.py", False), ("b.py", False))
    ]
    board = run("usage", "dashboard", "--json").data
    assert board["top"][0]["text"] == "app.main"
    assert len(board["updates"]) == 3
    assert run("usage", "goals", "--json").data["sessions"] == 1


@pytest.mark.parametrize(
    ("given", "kind", "ref"),
    [
        ("src/app.py", "file", "src/app.py"),
        ("README", "file", "README"),
        ("./m_x", "file", "./m_x"),
        ("m_x.py", "file", "m_x.py"),
        (
            "file:01a21c7c-38a5-73b9-a7b9-29cbc18fb2b0",
            "file",
            "01a21c7c-38a5-73b9-a7b9-29cbc18fb2b0",
        ),
        (r"C:\work\b_x", "file", r"C:\work\b_x"),
        ("symbol:app.main", "symbol", "app.main"),
        ("document:https://example.org/a:b", "document", "https://example.org/a:b"),
    ],
)
def test_what_a_search_found_may_be_a_file(
    run: Run, look: Look, tenant: str, given: str, kind: str, ref: str
) -> None:
    memory_id = run("memory", "remember", ROSES[0], "--json").data["memory_id"]
    results = ("--result", given, "--result", memory_id)
    done = run("usage", "log-search", "how are roses cut?", "--tool", "rg", *results)
    assert (done.code, done.out) == (0, "Logged.\n")
    found = look.rows(
        "MATCH (:Event {tenant: $tenant, type: 'SEARCH'})-[r:RETURNED]->(n) "
        "RETURN r.rank AS rank, n.kind AS kind, n.ref AS ref, n.id AS id ORDER BY rank",
        tenant=tenant,
    )
    assert [(row["kind"], row["ref"]) for row in found] == [(kind, ref), (None, None)]
    assert found[1]["id"] == memory_id


@pytest.mark.parametrize("given", ["m_nope", "b_0123456789abcdef", "t_x", "ep_x", "ar_x"])
def test_a_search_with_an_unknown_result_is_refused_whole(
    run: Run, look: Look, tenant: str, given: str
) -> None:
    results = ("--result", "a.py", "--result", given)
    done = run("usage", "log-search", "roses", "--tool", "rg", *results, "--json")
    error = json.loads(done.err)["error"]
    assert (done.code, done.out, error["code"]) == (1, "", "not_found")
    assert error["message"] == f"results: no item {given!r}."
    assert look.count(tenant) == {}


@pytest.mark.parametrize(
    "entry", [("log-search", "roses", "--tool", "rg"), ("log-access", "file", "a.py")]
)
def test_what_is_not_logged_is_not_called_so(
    run: Run, look: Look, tenant: str, entry: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("memory", "remember", ROSES[0], "--scope", "gone")
    assert run("memory", "forget", "scope", "gone", "--apply").code == 0
    before = look.count(tenant)
    monkeypatch.setenv("GRAPHMEM_SCOPE", "gone")
    erased = run("usage", *entry)
    monkeypatch.setenv("GRAPHMEM_SCOPE", "global")
    monkeypatch.setenv("GRAPHMEM_ACCESS_LOG", "false")
    off = run("usage", *entry)
    for done in (erased, off):
        assert done.code == 1
        assert done.out.startswith("Nothing was logged")
    assert look.count(tenant) == before


def test_a_command_may_name_its_session(run: Run) -> None:
    memory_id = run("memory", "remember", ROSES[0], "--json").data["memory_id"]
    run("context", "roses", "--session", "thursday")
    run("expand", memory_id, "--session", "thursday")
    found = run("usage", "audit", "--session-id", "thursday", "--json")
    assert (found.code, found.data["findings"]) == (0, [])
    counts = [(one["searches"], one["accesses"]) for one in found.data["sessions"]]
    assert counts == [(1, 1)]
    assert run("recall", "roses", "--session", "").code == 2


def test_only_some_kinds_are_shown(run: Run, used: str) -> None:
    run("usage", "rate")
    assert run("usage", "dashboard", "--kind", "Belief", "--json").data["top"] == []
    assert len(run("usage", "dashboard", "--kind", "Memory", "--json").data["top"]) == 4
    for option, value, named in (("--kind", "Turn", "--kind"), ("--limit", "0", "limit")):
        refused = run("usage", "dashboard", option, value)
        assert (refused.code, named in refused.err) == (2, True)


def test_a_search_and_an_access_are_logged(run: Run) -> None:
    memory_id = run("memory", "remember", "The garden has nine roses", "--json").data["memory_id"]
    logged = run("usage", "log-search", "roses", "--tool", "grep", "--result", memory_id)
    assert logged.out == "Logged.\n"
    assert run("usage", "log-access", "file", "garden.md").code == 0
    activity = run("usage", "dashboard", "--json").data["activity"]
    assert [(use["tool"], use["query"]) for use in activity] == [(None, None), ("grep", "roses")]
    assert run("usage", "log-access", "door", "garden.md").code == 2


def test_rated_items_are_listed(run: Run, used: str) -> None:
    run("usage", "rate")
    shown = run("usage", "ratings", "--limit", "2").out.splitlines()
    assert shown[0].split() == ["elo", "tier", "games", "kind", "text"]
    assert used in shown[1]
    assert len(run("usage", "ratings", "--tier", "MEDIUM", "--json").data) == 1


def test_the_goals_are_shown(run: Run) -> None:
    found = run("usage", "goals", "--json").data
    assert [goal["wanted"] for goal in found["goals"]][:2] == ["< 10%", ">= 90%"]
    assert "no item is rated yet" in run("usage", "goals").out
