"""`graphmem usage roll-up`, as people and programs read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphmem import GraphMem
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

Run = Callable[..., Any]


def test_it_is_told_before_it_is_done(run: Run, migrated: Settings, tenant: str) -> None:
    assert "Nothing to roll up: no rated or unratable search is old enough." in (
        run("usage", "roll-up").out
    )
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        memory = client.tenant(tenant)
        ids = [memory.remember(f"Rose {name} is red").memory_id for name in ("Ann", "Bo", "Cy")]
        with memory.session("s1") as session:
            session.usage.log_search("red roses", tool="grep", results=ids)  # type: ignore[arg-type]
            session.expand(str(ids[1]))
            session.usage.log_access("file", "roses.md")
    run("usage", "rate")
    top = run("usage", "dashboard", "--json").data["top"]
    assert "Nothing to roll up" in run("usage", "roll-up", "--apply").out
    plan = run("usage", "roll-up", "--days", "0").out
    counts = "1 search with 3 results, of 1 session, and 1 access of files"
    assert f"{counts} would be replaced by counts; use --apply." in plan
    done = run("usage", "roll-up", "--days", "0", "--apply", "--json").data
    assert done.pop("applied")
    assert done == {"sessions": 1, "searches": 1, "results": 3, "accesses": 1, "artifacts": 1}
    assert "Nothing to roll up" in run("usage", "roll-up", "--days", "0").out
    found = run("usage", "dashboard", "--json").data
    assert [(one["id"], one["rating"]["games"]) for one in found["top"]] == [
        (one["id"], one["rating"]["games"]) for one in top
    ]
    assert found["updates"] == []
    assert run("usage", "rate", "--from-scratch", "--json").data["sessions"] == 0
    assert run("usage", "roll-up", "--days", "-1").code == 2
