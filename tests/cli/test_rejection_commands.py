"""`graphmem memory reject`, `graphmem belief reject`, and `unreject`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
LISBON = ("alice", "lives_in", "Lisbon")


def test_a_memory_is_rejected_and_taken_back(run: Run) -> None:
    text = "The limit is 100 requests."
    kept = run("memory", "remember", text, "--json").data["memory_id"]

    done = run("memory", "reject", kept, "--reason", "a joke", "--actor", "ann")

    assert (done.code, done.out.startswith("rejected; event ")) == (0, True)
    assert done.out.endswith(f"\n  {kept[:6]}\n")
    assert run("memory", "list", "--json").data["memories"] == []
    shown = run("memory", "list", "--status", "rejected", "--json").data["memories"]
    assert [one["id"] for one in shown] == [kept]
    assert "by ann: a joke" in run("why", kept).out
    assert "REJECT" in run("memory", "history", kept).out
    again = run("memory", "remember", text.upper())
    assert again.code == 1
    assert "rejected by a person" in again.out
    assert "a joke" in again.out
    restored = run("memory", "restore", kept, "--json")
    assert (restored.code != 0, '"rejected"' in restored.err) == (True, True)

    assert run("memory", "unreject", kept, "--reason", "it was none", "--json").data["changed"]
    assert run("memory", "get", kept, "--json").data["status"] == "current"


@pytest.mark.parametrize("by_id", [True, False], ids=["id", "value"])
def test_a_value_is_rejected_and_taken_back(run: Run, *, by_id: bool) -> None:
    seen = run("belief", "observe", *LISBON, "--json").data["belief_id"]
    run("belief", "observe", "alice", "lives_in", "Porto")
    target = [seen] if by_id else LISBON

    done = run("belief", "reject", *target, "--reason", "never", "--json").data

    assert (done["rejected"], done["belief_ids"]) == (True, [seen])
    assert "Lisbon" not in run("belief", "slots").out
    assert "rejected" in run("belief", "get", seen).out
    assert ": never" in run("why", seen).out
    told = run("belief", "observe", "ALICE", "lives in", "LISBON")
    assert (told.code, "stays rejected" in told.out, ": never" in told.out) == (0, True, True)
    listed = run("belief", "list", "--include-rejected").out
    assert "alice lives in Lisbon" in listed
    assert "alice lives in Lisbon" not in run("belief", "list").out
    hidden = run("recall", "Lisbon", "--include-hidden").out
    assert "rejected by a person" in hidden

    assert run("belief", "unreject", *target, "--reason", "she does").code == 0
    assert "Lisbon" in run("belief", "slots").out
