"""Sessions: text that memory returned in one is rejected as an echo; idle sessions end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from graphmem import AsyncGraphMem
from graphmem.mcp.connection import IDLE_S, Caller, SessionRegistry
from graphmem.settings import Settings
from tests.mcp.conftest import Environ, Opened, data, over_http, text_of, until
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.loops import run_apart as run

WORDS = "Alice deploys from Atlas."


async def echoed(client: Client, **session: str) -> dict[str, Any]:
    """Recall a memory and remember its text again; return the outcome."""
    found = await data(client, "recall", query="where does Alice deploy?", **session)
    [text] = {hit["text"] for hit in found["bites"]}
    again: dict[str, Any] = await data(client, "remember", content=text, **session)
    return again


@pytest.mark.parametrize("named", [{"session_id": "monday"}, {}])
def test_recalled_text_is_rejected_as_an_echo(opened: Opened, named: dict[str, str]) -> None:
    async def session() -> None:
        async with opened() as client:
            first = await data(client, "remember", content=WORDS, session_id="before")
            echo = await echoed(client, **named)
            assert echo["outcome"] == "REJECTED_HYGIENE"
            assert echo["hygiene_reasons"] == ["memory_echo"]
            block = await client.call_tool("context", {"about": "deploy", **named})
            assert WORDS in text_of(block)
            assert text_of(block) == block.structured_content["text"]
            # A session that recalled nothing may state it.
            other = await data(client, "remember", content=WORDS, session_id="another")
            assert (other["outcome"], other["memory_id"]) == ("EXACT_DUPE", first["memory_id"])

    run(session())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_recalled_text_is_rejected_over_http(environ: Environ, tmp_path: Path, mode: str) -> None:
    """The session is that of the connection, or else of the key."""

    async def session() -> None:
        async with (
            over_http(environ, errors=tmp_path / "errors.txt") as served,
            served.client(mode=mode) as client,
        ):
            await data(client, "remember", content=WORDS, session_id="before")
            assert (await echoed(client))["hygiene_reasons"] == ["memory_echo"]

    run(session())


def test_the_log_names_agent_and_session(opened: Opened, look: Look, tenant: str) -> None:
    async def session() -> None:
        async with opened() as client:
            kept = await data(client, "remember", content=WORDS, session_id="monday")
            await data(client, "recall", query="where does Alice deploy?", session_id="monday")
            await data(client, "expand", item_id=kept["memory_id"], session_id="monday")

    run(session())
    events = list(look.events(tenant).values())
    kinds = sorted(event["type"] for event in events)
    assert kinds == ["ACCESS", "ADD", "SEARCH", "SESSION_END", "SESSION_START"]
    by = {event["type"]: event for event in events}
    assert by["ADD"]["source"] == "mcp"
    assert by["ADD"]["actor"]
    assert by["SEARCH"]["actor"] == by["ACCESS"]["actor"] == "monday"


def test_a_read_only_caller_writes_nothing(opened: Opened, look: Look, tenant: str) -> None:
    async def session() -> None:
        async with opened() as client:
            kept = await data(client, "remember", content=WORDS)
        async with opened(read_only=True) as client:
            for named in ({"session_id": "monday"}, {}):
                await data(client, "recall", query="where does Alice deploy?", **named)
                await data(client, "context", about="where does Alice deploy?", **named)
                await data(client, "expand", item_id=kept["memory_id"], **named)
            await client.read_resource("graphmem://context/Alice")
            await client.read_resource(f"graphmem://memory/{kept['memory_id']}")
            asked = await client.get_prompt("ask", {"question": "Where does Alice deploy?"})
            assert WORDS in str(asked)

    run(session())
    assert [event["type"] for event in look.events(tenant).values()] == ["ADD"]


def test_evidence_quotes_a_turn_of_its_session(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            message = {"role": "user", "content": "I moved to Porto.", "id": "m1"}
            turns = await data(client, "add_messages", session_id="s", messages=[message])
            assert turns["added"] == 1
            again = await data(client, "add_messages", session_id="s", messages=[message])
            assert (again["added"], again["turn_ids"]) == (0, turns["turn_ids"])
            fact = {"subject": "user", "predicate": "lives_in", "object": "Porto"}
            seen = await data(
                client, "observe", session_id="s", turn_id=turns["turn_ids"][0], **fact
            )
            card = await data(client, "expand", item_id=seen["belief_id"])
            assert [turn["text"] for turn in card["turns"]] == ["I moved to Porto."]
            why = await data(client, "why", item_id=seen["belief_id"])
            assert [piece["turn_id"] for piece in why["pieces"]] == turns["turn_ids"]

    run(session())


def test_a_demoted_belief_has_a_revision_due(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            claim = {"subject": "pool", "predicate": "threads", "object": "4"}
            await data(client, "observe", **claim, cardinality="ONE")
            found = await data(client, "current", subject="pool", predicate="threads")
            belief = found["belief_id"]
            assert found["revise_due"] is False
            for _ in range(4):
                done = await data(
                    client, "add_evidence", belief_id=belief, kind="refuting", strength=0.9
                )
            assert (done["status"], done["revise_due"]) == ("demoted", True)
            for name, arguments in (
                ("current", {"subject": "pool", "predicate": "threads"}),
                ("why", {"item_id": belief}),
                ("expand", {"item_id": belief}),
            ):
                assert (await data(client, name, **arguments))["revise_due"] is True, name
            tested = await data(client, "evidence_for", belief_id=belief)
            assert tested["revise_due"] is True
            hits = (await data(client, "recall", query="pool threads 4"))["bites"]
            assert any(hit.get("revise_due") for hit in hits)
            done = await data(
                client, "belief_revise", belief_id=belief, statement="The pool has 8 threads"
            )
            assert done["older_ids"] == [belief]
            shown = await data(client, "why", item_id=belief)
            assert [one["belief_id"] for one in shown["replaced_by"]] == done["newer_ids"]

    run(session())


def test_idle_sessions_end(settings: Settings, look: Look, tenant: str) -> None:
    who, now = Caller(tenant, "global"), [0.0]
    sessions = SessionRegistry(clock=lambda: now[0], max_sessions=3)

    async def ended() -> bool | None:
        events = await asyncio.to_thread(look.events, tenant)
        return any(event["type"] == "SESSION_END" for event in events.values()) or None

    async def work() -> None:
        async with await AsyncGraphMem.open(settings=settings) as memory:
            first = sessions.open(memory, who, "a", None)
            await first.recall("anything")
            now[0] = IDLE_S - 1
            assert sessions.open(memory, who, "a", None) is first
            now[0] += IDLE_S + 1
            for name in "bcd":
                sessions.open(memory, who, name, None)
            await until(ended)
            assert sessions.open(memory, who, "a", None) is not first
            again = sessions.open(memory, who, "a", None)
            for other in (
                Caller(tenant, "alice"),
                Caller(fresh_tenant(), "global"),
                Caller(tenant, "global", read_only=True),
            ):
                assert sessions.open(memory, other, "a", None) is not again
                assert sessions.open(memory, who, "a", None) is again
        names = {sessions.default_id(who, connection) for connection in ("1", "2", "1", None)}
        assert len(names) == 3

    run(work())
    kinds = sorted(event["type"] for event in look.events(tenant).values())
    assert kinds == ["SEARCH", "SESSION_END", "SESSION_START"]
