"""Each tool as an agent uses it."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client

from tests.mcp.conftest import Environ, Opened, data, over_stdio
from tests.plugins.loops import run_apart as run


async def _everything(client: Client) -> dict[str, Any]:
    """Call every tool once and return what each gave."""
    told: dict[str, Any] = {}

    async def call(name: str, **arguments: Any) -> Any:
        told[name] = await data(client, name, **arguments)
        return told[name]

    said = {"role": "user", "content": "I deploy from Atlas now."}
    turns = await call("add_messages", session="monday", messages=[said])
    kept = await call(
        "remember",
        content="Alice deploys from Atlas.",
        tags=["deploy"],
        claims=[{"subject": "alice", "predicate": "deploys_from", "object": "Atlas"}],
    )
    seen = await call(
        "observe",
        session="monday",
        subject="alice",
        predicate="works_on",
        object="Tidepool",
        turn=turns["turn_ids"][0],
    )
    await call("current", subject="alice", predicate="works_on")
    thought = await call("believe", statement="The pool should have 4 threads", confidence=0.6)
    await call("evidence", belief_id=thought["belief_id"], kind="refuting", strength=0.85)
    await call("evidence_for", belief_id=thought["belief_id"])
    await call("revise", belief_id=thought["belief_id"], statement="The pool should have 8 threads")
    await call("why", id=seen["belief_id"])
    await call("recall", query="where does Alice deploy from?")
    await call("context", query="where does Alice deploy from?")
    await call("expand", id=kept["memory_id"])
    await call("history", id=kept["memory_id"])
    await call("deprecate", id=kept["memory_id"], reason="moved")
    return told


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_every_tool_is_called_over_stdin(environ: Environ, mode: str) -> None:
    async def session() -> None:
        async with over_stdio(environ, mode=mode) as client:
            listed = await client.list_tools()
            told = await _everything(client)
            assert told.keys() == {tool.name for tool in listed.tools}
            assert told["remember"]["outcome"] == "INSERTED_NEW"
            assert told["current"]["leader"] == "Tidepool"
            assert told["evidence"]["status"] == "accumulating"
            assert [one["type"] for one in told["history"]["events"]] == ["ADD"]

    run(session())


def test_what_was_hidden_comes_back(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            kept = await data(client, "remember", content="The limit is 100 requests.")
            await data(client, "deprecate", id=kept["memory_id"])
            found = await data(client, "recall", query="what is the limit of requests?")
            assert found["hits"] == []
            assert "deprecated" in found["reason"]
            again = await data(
                client, "remember", content="The limit is 100 requests.", session="x"
            )
            assert again["memory_id"] == kept["memory_id"]
            found = await data(client, "recall", query="what is the limit of requests?")
            assert [hit["id"] for hit in found["hits"]] == [kept["memory_id"]]

    run(session())
