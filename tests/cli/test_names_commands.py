"""`graphmem alias add | remove | list`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]

MONDAY = "2025-05-05T09:00:00Z"


def test_names_are_said_shown_and_undone(run: Run) -> None:
    assert run("alias", "list").out.strip() == "No aliases."
    for subject, town in (("Bob", "Lisbon"), ("Bob Smith", "lisbon")):
        run("belief", "observe", subject, "lives_in", town, "--at", MONDAY)
    done = run("alias", "add", "Bob Smith", "Bob", "--event-id", "n1", "--note", "his badge")
    assert done.out.splitlines() == ["Bob Smith is an alias of Bob in scope global.", "event n1"]
    shown = run("alias", "list").out.splitlines()
    assert shown[0].split() == ["name", "alias", "of", "scope", "since"]
    assert shown[1].startswith("Bob Smith")
    [listed] = run("alias", "list", "--json").data
    assert (listed["name"], listed["same_as"], listed["event_id"]) == ("Bob Smith", "Bob", "n1")

    slot = run("belief", "current", "bob", "lives_in")
    assert "includes the aliases: bob smith" in slot.out
    [value] = run("belief", "current", "bob", "lives_in", "--json").data["candidates"]
    assert value["events"] == 2
    assert "same under an alias: Bob Smith lives in lisbon" in run("why", value["belief_id"]).out

    assert run("alias", "remove", "bob smith", "--event-id", "n2").out.splitlines() == [
        "bob smith is no longer an alias in scope global.",
        "event n2",
    ]
    assert run("alias", "list", "--json").data == []
    again = run("alias", "remove", "bob smith")
    assert (again.code, "is not an alias" in again.err) == (1, True)
