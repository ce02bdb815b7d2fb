"""Each tool as an agent calls it."""

from __future__ import annotations

import inspect
import json
import re
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import pytest
from mcp import Client

from graphmem import Handle, Session
from graphmem.mcp.tool import answer_data
from graphmem.mcp.tools import TOOLS
from graphmem.model import Origin
from tests.mcp.conftest import Environ, Opened, data, over_stdio, refused, text_of
from tests.plugins.loops import run_apart as run
from tests.plugins.twins import public


async def _everything(client: Client) -> dict[str, Any]:
    """Call every tool once and return the results."""
    found: dict[str, Any] = {}

    async def call(name: str, **arguments: Any) -> Any:
        found[name] = await data(client, name, **arguments)
        return found[name]

    message = {"role": "user", "content": "I deploy from Atlas now."}
    turns = await call("add_messages", session_id="monday", messages=[message])
    kept = await call(
        "remember",
        content="Alice deploys from Atlas.",
        tags=["deploy"],
        claims=[{"subject": "alice", "predicate": "deploys_from", "object": "Atlas"}],
    )
    seen = await call(
        "observe",
        session_id="monday",
        subject="alice",
        predicate="works_on",
        object="Tidepool",
        cardinality="ONE",
        turn_id=turns["turn_ids"][0],
    )
    await call("current", subject="alice", predicate="works_on")
    hypothesis = await call("believe", statement="The pool should have 4 threads", confidence=0.6)
    await call("add_evidence", belief_id=hypothesis["belief_id"], kind="refuting", strength=0.85)
    await call("evidence_for", belief_id=hypothesis["belief_id"])
    await call(
        "belief_revise", belief_id=hypothesis["belief_id"], statement="The pool has 8 threads"
    )
    both = await call("believe", statement="The pool is slow and it leaks", confidence=0.5)
    parts = await call(
        "belief_split", belief_id=both["belief_id"], statements=["It is slow", "It leaks"]
    )
    assert parts["older_ids"] == [both["belief_id"]]
    joined = await call("belief_merge", beliefs=parts["newer_ids"], statement="The pool is bad")
    assert joined["older_ids"] == parts["newer_ids"]
    await call("why", item_id=seen["belief_id"])
    await call("recall", query="where does Alice deploy from?")
    await call("context", about="where does Alice deploy from?")
    await call("expand", item_id=kept["memory_id"])
    await call("memory_history", memory_id=kept["memory_id"])
    newer = await call("supersede", item_id=kept["memory_id"], content="Alice uses Borealis.")
    assert newer["replaced_id"] == kept["memory_id"]
    await call("memory_deprecate", memory_id=newer["memory_id"], reason="moved")
    await call("belief_retract", event_id=seen["event_id"])
    await call("belief_slots", subject="alice")
    await call("predicate_list")
    await call("usage_log_search", query="pool", tool="grep", results=["src/pool.py"])
    await call("usage_log_access", kind="file", ref="src/pool.py")
    await call("forget", item_id=kept["memory_id"])
    return found


METHODS = public() | {"add_messages": Session.add_messages}
NAMESPACES = {
    "memory": "memories",
    "belief": "beliefs",
    "predicate": "predicates",
    "usage": "usage",
}
KINDS = {
    *("memory", "belief", "episode", "turn", "event", "item", "leader", "proposal"),
    *("replaced", "requested", "retracted"),
}
"""Kinds of ids; the last three are ids of a second item of the same kind."""
MORE = {"context": {"used"}, "forget": {"confirm"}, "supersede": {"item_id"}}
"""Arguments that only the tool has: `supersede` also takes a belief, which it revises."""


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_and_its_arguments_have_the_names_of_the_client(name: str) -> None:
    noun, _, verb = name.partition("_")
    method = METHODS[f"{NAMESPACES[noun]}.{verb}" if noun in NAMESPACES else name]
    own = inspect.signature(method).parameters.keys()
    origin = Origin.model_fields.keys() if "origin" in own else set()
    known = own | origin | MORE.get(name, set()) | {"session_id"}
    assert TOOLS[name].arguments.model_fields.keys() <= known


@pytest.mark.parametrize("name", TOOLS)
def test_ids_in_results_name_their_kind(name: str) -> None:
    listed = json.dumps(TOOLS[name].listed("full").output_schema)
    assert '"id":' not in listed
    kinds = set(re.findall(r'"(\w+)_id":', listed))
    assert kinds <= KINDS


def _nothing(annotation: Any) -> Any:
    """Return the value of a type that means that nothing was found or done."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)[0]
    kind = get_origin(annotation) or annotation
    known = {bool: False, int: 0, float: 0.0, str: "", tuple: (), dict: {}}
    return known.get(kind)


@pytest.mark.parametrize("name", TOOLS)
def test_no_result_leaves_out_what_did_not_happen(name: str) -> None:
    fields = TOOLS[name].result.model_fields
    empty = {field: _nothing(of.annotation) for field, of in fields.items()}
    found = answer_data(TOOLS[name].result.model_construct(**empty))
    assert found.keys() == {field for field, value in empty.items() if value is not None}
    optional = {field for field, of in fields.items() if NoneType in get_args(of.annotation)}
    assert {field for field in fields if field not in found} <= optional | {"verdict"}


@pytest.mark.parametrize("name", TOOLS)
def test_an_error_shows_a_valid_example(name: str) -> None:
    tool = TOOLS[name]
    assert tool.read(tool.example)
    assert all(argument in tool.usage for argument in tool.arguments.model_fields)


def test_every_tool_is_called_over_stdin(environ: Environ) -> None:
    async def session() -> None:
        async with over_stdio(environ) as client:
            listed = await client.list_tools()
            found = await _everything(client)
            assert found.keys() == {tool.name for tool in listed.tools}
            assert found["remember"]["outcome"] == "INSERTED_NEW"
            assert found["current"]["leader"] == "Tidepool"
            assert found["add_evidence"]["status"] == "accumulating"
            assert [one["type"] for one in found["memory_history"]["events"]] == ["ADD"]

    run(session())


def test_what_a_person_rejected_is_not_brought_back(opened: Opened, plain: Handle) -> None:
    fact = {"subject": "alice", "predicate": "likes", "object": "tea"}
    kept = str(plain.remember("The limit is 100 requests.").memory_id)
    seen = plain.observe("alice", "likes", "tea", cardinality="MANY").belief_id
    for one in (kept, seen):
        plain.reject(one, reason="never true")

    async def session() -> None:
        async with opened() as client:
            again = await data(client, "remember", content="The LIMIT is 100 requests")
            assert (again["outcome"], again["rejection"]) == ("REJECTED", "never true")
            told = await data(client, "observe", **fact | {"object": "TEA"})
            assert told["rejection"] == "never true"
            why = await data(client, "why", item_id=seen)
            assert (why["status"], why["rejection"]) == ("rejected", "never true")
            assert (await data(client, "current", subject="alice", predicate="likes"))["total"] == 0
            # Neither is among the tools: a model decides nothing for a person.
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert not {name for name in names if "reject" in name}

    run(session())


def test_a_deprecated_memory_is_restored_by_remembering_it(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            kept = await data(client, "remember", content="The limit is 100 requests.")
            await data(client, "memory_deprecate", memory_id=kept["memory_id"])
            found = await data(client, "recall", query="what is the limit of requests?")
            assert found["bites"] == []
            assert "deprecated" in found["reason"]
            again = await data(
                client, "remember", content="The limit is 100 requests.", session_id="x"
            )
            assert again["memory_id"] == kept["memory_id"]
            found = await data(client, "recall", query="what is the limit of requests?")
            assert [hit["item_id"] for hit in found["bites"]] == [kept["memory_id"]]

    run(session())


def test_ignored_arguments_are_named_in_the_answer(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            more = {"_meta": {}, "toolCallId": "c1"}
            found = await client.call_tool("context", {"about": "tea", **more})
            assert found.structured_content is not None
            assert found.structured_content["ignored_arguments"] == list(more)
            assert text_of(found).endswith('{"ignored_arguments":["_meta","toolCallId"]}')
            found = await client.call_tool(
                "predicate_list", {"reason": "\u202ex" * 300, "a" * 999: 1}
            )
            assert found.structured_content is not None
            assert found.structured_content["ignored_arguments"] == ["reason", "a" * 200]
            assert "ignored_arguments" not in await data(client, "predicate_list")

    run(session())


def test_a_sentence_is_stored_without_the_claims_that_cannot_be(
    opened: Opened, plain: Handle
) -> None:
    plain.observe("bob", "lives_in", "Braga")
    plain.admin.erase_person("bob", dry_run=False)
    good = {"subject": "alice", "predicate": "lives_in", "object": "Porto"}
    secret = good | {"predicate": "password", "object": "hunter2-Xy7!kL9"}
    bad = [{"subject": "x"}, "text", good | {"predicate": "mascot"}, secret]

    async def session() -> None:
        async with opened() as client:
            words = "Alice lives in Porto with an otter."
            kept = await data(client, "remember", content=words, claims=[bad[0], good, *bad[1:]])
            assert (kept["outcome"], len(kept["belief_ids"])) == ("INSERTED_NEW", 1)
            numbers = [int(one.split()[1].rstrip(":")) for one in kept["refused_claims"]]
            assert numbers == [1, 3, 4, 5][: len(numbers)]
            assert len(numbers) >= 3
            # The store itself refuses this one.
            words = "Bob lives in Braga."
            kept = await data(client, "remember", content=words, claims=[good | {"subject": "bob"}])
            assert (kept["outcome"], kept["belief_ids"]) == ("INSERTED_NEW", [])
            assert kept["refused_claims"][0].startswith("claim 1: ")
            many = [good | {"object": f"Town {n}"} for n in range(18)]
            kept = await data(client, "remember", content="Alice knows towns.", claims=many)
            assert [one[:9] for one in kept["refused_claims"]] == ["claim 17:", "claim 18:"]
            assert len(kept["belief_ids"]) == 16

    run(session())


def test_a_retraction_of_nothing_fails(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            seen = await data(
                client, "observe", subject="alice", predicate="lives_in", object="Porto"
            )
            kept = await data(client, "remember", content="Alice prefers tea.")
            turns = await data(client, "add_messages", messages={"role": "user", "content": "Hi."})
            for item, kind in (
                (seen["belief_id"], "belief"),
                (kept["memory_id"], "memory"),
                (turns["turn_ids"][0], "turn"),
                (turns["episode_id"], "episode"),
            ):
                error = await refused(client, "belief_retract", event_id=item)
                assert (error["code"], kind in error["message"]) == ("invalid_input", True)
            unknown = await refused(client, "belief_retract", event_id="0197a1b2-none")
            assert unknown["code"] == "not_found"
            done = await data(client, "belief_retract", event_id=seen["event_id"])
            assert (done["found"], done["proposed"], done["repeated"]) == (True, False, False)

    run(session())
