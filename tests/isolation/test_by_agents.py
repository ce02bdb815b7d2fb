"""The same attacks by agents' own ways in: LangGraph's store and the tools of MCP.

`HYPOTHESIS_PROFILE=deep` makes 10,000 operations and 10,000 calls of them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, Op, PutOp, SearchOp
from mcp import Client

from graphmem import Handle
from graphmem.langgraph import GraphMemStore
from graphmem.mcp import server
from graphmem.mcp.connection import Caller, MemoryConnection
from graphmem.mcp.server import RequestHandler
from graphmem.mcp.tools import TOOLS
from graphmem.settings import Settings
from tests.isolation import victims
from tests.isolation.victims import MARK, NAMESPACE, Victim, disguises
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

pytestmark = [pytest.mark.server, pytest.mark.timeout(3_600)]

EACH = max(10, min(hypothesis.settings().max_examples // 20, 100))
HISTORIES = max(5, min(hypothesis.settings().max_examples // 6, 100))
PLACES = st.integers(0, len(disguises("x")) - 1)
NAMESPACES = st.sampled_from([(), NAMESPACE[:1], NAMESPACE, (*NAMESPACE, MARK)])
KEYS = st.sampled_from(["k", "gone", MARK])
QUERIES = st.sampled_from([None, unlike(1), "secret"])
FILTERS = st.sampled_from([None, {"n": 1}, {"n": {"$gte": 0}}])
VALUES = st.sampled_from([None, {"n": 3}])
ENDS = st.sampled_from([None, (MatchCondition("suffix", NAMESPACE[-1:]),)])
OPS: st.SearchStrategy[Op] = st.one_of(
    st.tuples(NAMESPACES, KEYS).map(lambda given: GetOp(*given)),
    st.tuples(NAMESPACES, FILTERS, QUERIES).map(
        lambda given: SearchOp(given[0], given[1], limit=100, query=given[2])
    ),
    st.tuples(NAMESPACES.filter(bool), KEYS, VALUES).map(lambda given: PutOp(*given)),
    ENDS.map(ListNamespacesOp),
)


@hypothesis.settings(max_examples=HISTORIES)
@given(place=PLACES, ops=st.lists(OPS, min_size=EACH, max_size=EACH))
def test_a_store_holds_nothing_of_another_tenant(
    client: Handle, look: Look, victim: Victim, place: int, ops: list[Op]
) -> None:
    store = GraphMemStore(on_tenant(client, disguises(victim.name)[place]))
    before = victims.looks(look, victim.name)
    # The attacker may well use the mark as a name of its own; the victim's value has another.
    for op in ops:
        assert f"'text': '{MARK}'" not in repr(store.batch([op]))
    assert victims.looks(look, victim.name) == before


def asked_of(tool: str, known: dict[str, str]) -> dict[str, Any]:
    """Return what a tool is asked, by whoever knows the victim's ids."""
    triple = {"subject": "alice", "predicate": "works_on", "object": "Atlas"}
    given: dict[str, dict[str, Any]] = {
        "context": {"about": unlike(1), "tokens": 8_000},
        "recall": {"query": unlike(1), "include_hidden": True, "limit": 100},
        "expand": {"item_id": known["memory"]},
        "add_messages": {
            "session_id": "s1",
            "messages": [{"role": "user", "content": unlike(1), "id": "1"}],
        },
        "remember": {"content": unlike(1), "claims": [triple]},
        "memory_history": {"memory_id": known["memory"]},
        "memory_deprecate": {"memory_id": known["memory"]},
        "observe": {**triple, "session_id": "s1", "turn_id": known["turn"]},
        "current": {"subject": "alice", "predicate": "works_on"},
        "believe": {"statement": unlike(6)},
        "add_evidence": {"belief_id": known["belief"], "kind": "refuting", "strength": 0.9},
        "evidence_for": {"belief_id": known["belief"]},
        "belief_revise": {"belief_id": known["belief"], "statement": unlike(9)},
        "belief_split": {"belief_id": known["belief"], "statements": [unlike(9), unlike(10)]},
        "belief_merge": {"beliefs": [known["belief"], "b_none"], "statement": unlike(9)},
        "why": {"item_id": known["belief"]},
        "supersede": {"item_id": known["memory"], "content": unlike(8)},
        "belief_retract": {"event_id": known["event"]},
        "belief_slots": {"as_of": "2025-05-20"},
        "predicate_list": {},
        "forget": {"item_id": known["memory"], "confirm": "yes-0123456789ab"},
        "usage_log_search": {"query": "a", "tool": "rg", "results": ["a.py", known["memory"]]},
        "usage_log_access": {"kind": "file", "ref": "a.py"},
    }
    return given[tool]


@asynccontextmanager
async def tools_of(settings: Settings, tenant: str) -> AsyncIterator[Client]:
    """Open a client of the server of tools, in this process, on a tenant."""
    known = Settings.load(
        {"GRAPHMEM_EMBEDDER": "hash"},
        uri=settings.uri,
        user=settings.user,
        password=settings.password,
    )
    desk = RequestHandler(
        MemoryConnection(known, wait_s=300),
        lambda _: Caller(tenant, "global", read_only=False),
        "full",
    )
    async with Client(server.create_server(desk), mode="legacy") as client:
        yield client


@hypothesis.settings(max_examples=HISTORIES)
@given(
    place=PLACES,
    calls=st.lists(
        st.tuples(st.sampled_from(sorted(TOOLS)), st.booleans()), min_size=EACH, max_size=EACH
    ),
)
def test_a_tool_tells_nothing_of_another_tenant(
    migrated: Settings, look: Look, victim: Victim, place: int, calls: list[tuple[str, bool]]
) -> None:
    before = victims.looks(look, victim.name)

    async def attack() -> None:
        async with tools_of(migrated, disguises(victim.name)[place]) as client:
            for tool, marked in calls:
                known = victim.marked if marked else victim.known
                result = await client.call_tool(tool, asked_of(tool, known))
                assert MARK not in json.dumps(result.model_dump(mode="json")), tool

    asyncio.run(attack())
    assert victims.looks(look, victim.name) == before


def test_every_tool_of_the_victim_itself_tells_its_mark(migrated: Settings, victim: Victim) -> None:
    """What the attacks look for is there to be found."""

    async def read() -> dict[str, str]:
        async with tools_of(migrated, victim.name) as client:
            return {
                name: json.dumps(
                    (await client.call_tool(name, asked_of(name, victim.marked))).model_dump(
                        mode="json"
                    )
                )
                for name, tool in TOOLS.items()
                if tool.read_only
            }

    assert {name for name, text in asyncio.run(read()).items() if MARK not in text} == set()


def test_a_store_of_the_victim_itself_holds_its_mark(victim: Victim) -> None:
    found = GraphMemStore(victim.memory).batch([SearchOp(NAMESPACE, limit=100)])
    assert f"'text': '{MARK}'" in repr(found)
