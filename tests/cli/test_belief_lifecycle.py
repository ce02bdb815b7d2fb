"""`graphmem belief archive | restore | clear-flag`, and how alive the listed beliefs are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphmem import Handle
from graphmem.model import EventSource, EventType
from graphmem.operations.evidence import recording
from graphmem.ports import run_now

Run = Callable[..., Any]

MONDAY, FRIDAY = "2025-05-05T09:00:00Z", "2025-05-09T09:00:00Z"
POOL = "The pool should have 4 threads"


def believed(run: Run) -> str:
    done = run("belief", "believe", POOL, "--at", MONDAY, "--json").data
    belief_id: str = done["belief_id"]
    return belief_id


def test_a_belief_is_archived_and_restored(run: Run) -> None:
    belief = believed(run)
    done = run("belief", "archive", belief, "--reason", "of no use", "--event-id", "a1")
    assert done.out.splitlines() == [f"{belief[:6]} is archived.", "event a1"]
    assert "No beliefs." in run("belief", "list").out
    assert "No beliefs." in run("belief", "list", "--include-superseded").out
    listed = run("belief", "list", "--include-archived").out
    assert listed.startswith(f"× {POOL}")
    assert "archived" in listed.splitlines()[0]
    assert "No results: 1 hidden: archived." in run("recall", "threads", "of", "the", "pool").out
    hidden = run("recall", "threads", "of", "the", "pool", "--include-hidden").out
    assert f"archived: graphmem belief restore {belief[:6]}\n" in hidden
    again = run("belief", "archive", belief).out
    assert again.startswith(f"Nothing changed. {belief[:6]} is archived.")

    back = run("belief", "restore", belief, "--json").data
    assert (back["belief_id"], back["changed"], back["status"]) == (belief, True, "current")
    assert run("belief", "list").out.startswith(f"● {POOL}")


def test_a_flag_is_shown_until_it_is_resolved(run: Run, plain: Handle) -> None:
    belief = believed(run)
    not_flagged = run("belief", "clear-flag", belief).out
    assert not_flagged.startswith(f"Nothing changed. {belief[:6]} is not flagged.")
    source = EventSource(event_id="f1", source="consolidation")
    run_now(recording.mark(plain._state.context, EventType.FLAG, belief, source))
    for shown in (run("belief", "list").out, run("belief", "get", belief).out):
        assert "flagged since " in shown.splitlines()[0]
    shown = run("context", "threads", "of", "the", "pool").out
    assert "contradicted: " in shown
    assert "to be revised" not in shown
    done = run("belief", "clear-flag", belief, "--json").data
    assert (done["changed"], done["flagged"]) == (True, False)
    assert "flagged" not in run("belief", "list").out


def test_how_alive_it_is_is_shown(run: Run) -> None:
    said = ("belief", "observe", "the pool", "should_have", "4 threads", "--at", MONDAY)
    belief = run(*said, "--source", "consolidation", "--json").data["belief_id"]
    at = ("--valid", FRIDAY)
    listed = run("belief", "list", *at).out
    assert "retrieval 0.88" in listed.splitlines()[1]
    shown = run("belief", "get", belief, *at).out
    assert "R 0.88, S 30 days, last accessed: never" in shown
    assert "1 piece, importance 0.50" in shown
    assert "0.6778, precision 1.80, gate 0.11" in shown
    assert "only by consolidation" in shown
    [found] = run("belief", "list", *at, "--json").data["beliefs"]
    life = found["vitality"]
    assert (life["storage"], life["derived"], life["flagged_at"]) == (1, True, None)
    assert round(life["retrieval"], 4) == 0.8752
    assert run("belief", "get", belief, *at, "--json").data["vitality"] == life
    run("expand", belief)
    assert "last accessed: never" not in run("belief", "get", belief).out
