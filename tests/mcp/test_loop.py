"""A belief from suspicion to revision with the tools of the core profile, and calls of nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mcp import Client

from graphmem.mcp.schemas import complete_schema
from graphmem.mcp.tools import TOOLS
from tests.mcp.conftest import Opened, answer, data, refused, text_of
from tests.plugins.graph import fresh_tenant
from tests.plugins.loops import run_apart as run

CLAIM = "The worker pool should be sized at 4 threads"
BETTER = "The worker pool should be sized at 8 threads"


async def _loop(client: Client) -> None:
    """State, test, explain and revise a belief, as an agent does over several conversations."""
    stated = await data(
        client, "believe", session_id="monday", statement=CLAIM, confidence=0.6, note="a guess"
    )
    belief = stated["belief_id"]
    steps = [
        await data(
            client,
            "add_evidence",
            session_id=session,
            belief_id=belief,
            kind=kind,
            strength=strength,
            note=note,
        )
        for session, kind, strength, note in (
            ("tuesday", "supporting", 0.6, "latency was fine"),
            ("wednesday", "refuting", 0.85, "the queue grew"),
            ("thursday", "refuting", 0.85, "the queue grew again"),
            ("friday", "refuting", 0.85, "and again"),
        )
    ]
    assert [round(one["log_ratio"], 2) for one in steps] == [0.41, -1.33, -3.06, -4.80]
    assert [one["revise_due"] for one in steps] == [False, False, True, True]
    assert [one["confidence"] for one in steps] == [0.6, 0.6, 0.4, 0.4]
    assert steps[0]["demote_pieces"] > 0

    why = await data(client, "why", item_id=belief[:8])
    assert (why["verdict"], why["revise_due"], why["total"]) == ("demoted", True, 4)
    trail = [(one["kind"], one["note"], one["status"]) for one in why["pieces"]]
    assert sorted(trail) == sorted(
        [
            ("supporting", "latency was fine", "accumulating"),
            ("refuting", "the queue grew", "accumulating"),
            ("refuting", "the queue grew again", "demoted"),
            ("refuting", "and again", "demoted"),
        ]
    )
    # The id of a line of the block names the belief to replace.
    block = text_of(await answer(client, "context", {"about": "how many threads for the pool?"}))
    [line] = [line for line in block.splitlines() if CLAIM in line]
    assert "to be revised" in line
    shown = line[: line.index("]") + 1]
    made = await data(
        client, "supersede", session_id="friday", item_id=shown, content=BETTER, reason="refuted"
    )
    assert (made["replaced_id"], made["reason"]) == (belief, "refuted")
    assert "memory_id" not in made
    newer = await data(client, "why", item_id=made["belief_id"])
    assert (newer["text"], newer["total"]) == (BETTER, 0)
    assert [one["belief_id"] for one in newer["replaces"]] == [belief]
    older = await data(client, "why", item_id=belief)
    assert older["total"] == 4
    assert [one["statement"] for one in older["replaced_by"]] == [BETTER]
    again = await refused(client, "supersede", item_id=belief, content="It needs 16 threads")
    assert "replaced_by" in again["hint"]
    # A memory is replaced by the same tool.
    kept = await data(client, "remember", content="Releases are on Fridays.")
    moved = await data(
        client, "supersede", item_id=kept["memory_id"], content="Releases are on Mondays."
    )
    assert moved["replaced_id"] == kept["memory_id"]
    assert "belief_id" not in moved


def test_a_belief_is_stated_tested_explained_and_revised(opened: Opened) -> None:
    async def session() -> None:
        async with opened(mode="auto", profile="core") as client:
            await _loop(client)

    run(session())


KNOWN = {"memory_id": "m", "belief_id": "b", "turn_id": "t", "event_id": "e", "beliefs": "b"}
"""Arguments that are ids, and the kind of each; `item_id` is of several kinds."""


def _ids(name: str) -> Iterator[tuple[str, str]]:
    for argument in TOOLS[name].arguments.model_fields:
        if argument == "item_id":
            yield from ((argument, kind) for kind in "mb")
        elif argument in KNOWN:
            yield argument, KNOWN[argument]


CALLS = [(name, argument, kind) for name in TOOLS for argument, kind in _ids(name)]
UNKNOWN = {"m": "m_" + "0" * 32, "b": "b_" + "0" * 32, "t": "t_" + "0" * 32, "e": "0197a1b2-none"}


def test_a_call_with_an_id_of_nothing_fails(opened: Opened) -> None:
    """Unknown ids, and those of another tenant, get the same error from each tool."""
    reached = set()

    async def session() -> None:
        async with opened() as client, opened(tenant=fresh_tenant()) as stranger:
            turns = await data(client, "add_messages", messages={"role": "user", "content": "Hi."})
            kept = await data(client, "remember", content="Alice prefers tea.")
            seen = await data(client, "believe", statement=CLAIM)
            theirs = {
                "m": kept["memory_id"],
                "b": seen["belief_id"],
                "t": turns["turn_ids"][0],
                "e": seen["event_id"],
            }
            for name, argument, kind in CALLS:
                for ids in (UNKNOWN, theirs):
                    value: Any = ids[kind]
                    if argument == "beliefs":
                        value = [value, UNKNOWN["b"][:-1] + "1"]
                    given = {**TOOLS[name].example, argument: value}
                    if argument == "turn_id" and "belief_id" in given:
                        own = await data(stranger, "believe", statement="The pool is slow")
                        given["belief_id"] = own["belief_id"]
                    if name == "observe":
                        given["cardinality"] = "MANY"
                    error = await refused(stranger, name, **given)
                    assert error["code"] == "not_found", (name, argument, ids[kind], error)
                    assert error["hint"], name
                    reached.add(name)

    run(session())
    assert reached == {name for name, *_ in CALLS}


LISTS = [
    (name, argument)
    for name, tool in TOOLS.items()
    for argument, of in complete_schema(tool.arguments)["properties"].items()
    if of.get("type") == "array" and argument in complete_schema(tool.arguments)["required"]
]


def test_an_empty_list_is_refused(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            for name, argument in LISTS:
                error = await refused(client, name, **{**TOOLS[name].example, argument: []})
                assert error["code"] == "invalid_input"
                assert argument in error["message"]

    run(session())


def test_a_read_of_nothing_says_so(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            found = await data(client, "recall", query="who keeps the otter?")
            assert (found["bites"], bool(found["reason"])) == ([], True)
            block = await data(client, "context", about="who keeps the otter?")
            assert (block["text"], bool(block["reason"])) == ("", True)
            slot = await data(client, "current", subject="alice", predicate="lives_in")
            assert (slot["total"], slot["candidates"]) == (0, [])
            assert (await data(client, "belief_slots", subject="nobody"))["slots"] == []
            for repeat in (False, True):
                kept = await data(
                    client,
                    "add_messages",
                    session_id="monday",
                    messages={"role": "user", "content": "Hi.", "id": "1"},
                )
                assert (kept["added"], kept["turn_ids"] != []) == (int(not repeat), True)

    run(session())
