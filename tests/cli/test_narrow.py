"""Views in a terminal of 80 columns and in a pipe: nothing is cut but the ids of items."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Run

COLUMNS = 80
NOTE = "overheard at the long table by the window, between the first and the second course"
ITEM_ID = re.compile(r"\b(?:m|b|t|ep)_[0-9a-f]{32}")
BEGUN, WHOLE = re.compile(r"(?<![-\w])20\d\d-\d"), re.compile(r"(?<![-\w])\d{4}-\d{2}-\d{2}")


@pytest.fixture(params=["80", ""], ids=["terminal", "pipe"])
def narrow(run: Run, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run commands at 80 columns, or without a width as in a pipe."""
    if request.param:
        monkeypatch.setenv("COLUMNS", request.param)
    else:
        monkeypatch.delenv("COLUMNS")
    return run


@pytest.fixture
def ids(narrow: Run) -> dict[str, str]:
    """Items with long ids, notes and numbers; evidence fades and echoes."""
    narrow("predicate", "declare", "likes", "--decay-per-day", "0.001", "--at", "2025-01-01")
    narrow("episode", "add", "--episode-id", "monday", "--at", "2025-05-01")
    for day, more in ((1, ("--source-type", "CLASSIFIER")), (2, ()), (3, ("--kind", "refuting"))):
        at = ("--at", f"2025-05-{day:02}T09:00:00Z")
        done = narrow(
            *("belief", "observe", "alice", "likes", "tea", "--note", NOTE, *at, *more),
            *("--episode-id", "monday", "--json"),
        )
        assert done.code == 0, done.err
    memory = narrow("memory", "remember", f"The cat is called Biscuit, as {NOTE}.", "--json").data
    narrow("memory", "deprecate", memory["memory_id"], "--reason", NOTE)
    return {
        "belief": done.data["belief_id"],
        "event": done.data["event_id"],
        "memory": memory["memory_id"],
    }


def views(ids: dict[str, str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield commands, and an id that each shows: of events whole, of items as a block does."""
    belief, event, memory = ids["belief"][:6], ids["event"], ids["memory"][:6]
    # The commands below open items, whose texts the dashboard shortens.
    yield ("recall", "tea"), belief
    yield ("usage", "dashboard"), "recall: tea"
    yield ("why", belief), event
    yield ("why", belief, "--valid", "2025-06-01"), event
    yield ("belief", "evidence-for", belief), event
    yield ("belief", "history", belief), event
    yield ("belief", "provenance", belief), event
    yield ("belief", "get", belief), belief
    yield ("belief", "list"), belief
    yield ("belief", "current", "alice", "likes"), belief
    yield ("why", memory), memory
    yield ("memory", "history", memory), "DEPRECATE"
    yield ("memory", "get", memory), memory
    yield ("predicate", "list"), "likes"
    yield ("usage", "audit"), "cli"


def test_nothing_is_cut(narrow: Run, ids: dict[str, str]) -> None:
    for command, shown in views(ids):
        page = narrow(*command).out
        assert shown in page, command
        assert not ITEM_ID.search(page), command
        assert "…" not in page, f"{command}\n{page}"
        assert max(map(len, page.splitlines())) <= COLUMNS, f"{command}\n{page}"
        # A date that begins on a line ends there; a part of an id is none.
        for row in page.splitlines():
            assert len(WHOLE.findall(row)) == len(BEGUN.findall(row)), row
    why = narrow("why", ids["belief"]).out
    assert "CLASSIFIER" in why
    assert "echo of #2" in " ".join(why.split())
