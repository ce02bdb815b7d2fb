"""What a read of a chain of supersessions costs grows as the chain does, and not as its square."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j

from graphmem import Handle
from graphmem.graph import catalog
from graphmem.graph.catalog import LANGUAGE
from graphmem.model import AsOf
from graphmem.rules import formulas, identity
from graphmem.rules.read_options import FOREVER
from tests.plugins.clients import on_tenant
from tests.plugins.graph import fresh_tenant
from tests.plugins.plans import operators

BASE = datetime(2025, 3, 1, tzinfo=UTC)
SHORT, LONG = 60, 240
"""Lengths of chains: a linear read of the second costs four times as much, a quadratic one 16."""

MEMORIES = """
MATCH (first:Memory {tenant: $tenant, id: $first})
UNWIND $rows AS row
CREATE (m:Memory)
SET m = first {.*, id: row.id, created_at: row.at, last_seen_at: row.at}
CREATE (m)<-[:REINFORCES]-(:Event {
  tenant: $tenant, id: 'said' + row.n, scope: m.scope, type: 'ADD',
  occurred_at: row.at, recorded_at: row.at
})
"""
EDGES = """
UNWIND $rows AS row
MATCH (newer:Memory {tenant: $tenant, id: row.id})
MATCH (older:Memory {tenant: $tenant, id: row.older})
CREATE (newer)-[:SUPERSEDES {
  event_id: 'over' + row.n, occurred_at: row.at, recorded_at: row.at, in_force: true
}]->(older)
CREATE (newer)<-[:CONCERNS]-(e:Event {
  tenant: $tenant, id: 'over' + row.n, scope: newer.scope, type: 'SUPERSEDE',
  occurred_at: row.at, recorded_at: row.at
})-[:CONCERNS]->(older)
SET older.status = 'superseded'
"""


def chain_of(length: int, plain: Handle, driver: neo4j.Driver) -> tuple[Handle, list[str]]:
    """Make a chain in a tenant of its own; return a handle and its ids, oldest first."""
    tenant = fresh_tenant()
    memory = on_tenant(plain, tenant)
    first = str(memory.remember("The pool has 0 threads", at=BASE).memory_id)
    ids = [first, *(identity.memory_id("global", f"{n} threads") for n in range(1, length))]
    rows = [
        {"n": n, "id": ids[n], "older": ids[n - 1], "at": BASE + timedelta(hours=n)}
        for n in range(1, length)
    ]
    driver.execute_query(MEMORIES, tenant=tenant, first=first, rows=rows)
    driver.execute_query(EDGES, tenant=tenant, rows=rows)
    return memory, ids


def cost(driver: neo4j.Driver, memory: Handle, ids: list[str], name: str) -> int:
    """Return the database hits of a read of a whole chain, or of its oldest memory."""
    given: dict[str, Any] = {
        "tenant": memory._state.context.tenant,
        "scopes": ["global"],
        "id": ids[0],
        "ids": ids[:1],
        "valid": FOREVER,
        "known": None if name.startswith("cache/") else FOREVER,
        "trace": formulas.trace_params(formulas.STANDARD_TRACE),
        "after": "",
        "limit": len(ids),
    }
    procedure = catalog.procedure(name)
    wanted = {param.name: given[param.name] for param in procedure.params}
    with driver.session() as session:
        text = neo4j.Query(f"{LANGUAGE}PROFILE {procedure.text}")
        summary = session.run(text, wanted).consume()
    assert summary.profile is not None
    return sum(operator["dbHits"] for operator in operators(summary.profile))


READS = ("cache/memories", "lineage/chain", "lineage/chain_as_of", "memory/get_as_of")


def test_reads_of_a_chain_grow_as_it_does(plain: Handle, driver: neo4j.Driver) -> None:
    chains = [chain_of(length, plain, driver) for length in (SHORT, LONG)]
    grown = {}
    for name in READS:
        short, long = (cost(driver, memory, ids, name) for memory, ids in chains)
        grown[name] = long / short
    assert {name: ratio for name, ratio in grown.items() if ratio > 1.3 * LONG / SHORT} == {}


def test_a_long_chain_is_read_and_rebuilt(plain: Handle, driver: neo4j.Driver) -> None:
    memory, ids = chain_of(LONG, plain, driver)
    for as_of in (None, AsOf(valid=FOREVER)):
        found = memory.memories.chain(ids[0], as_of=as_of)
        assert [one.id for one in found.memories] == ids
        assert found.head_ids == (ids[-1],)
        assert {one.head_ids for one in found.memories[:-1]} == {(ids[-1],)}
        assert found.memories[-1].head_ids == ()
    middle = memory.memories.chain(ids[0], as_of=AsOf(valid=BASE + timedelta(hours=LONG // 2)))
    assert {one.head_ids for one in middle.memories[:-1]} == {(ids[LONG // 2],)}
    memory.admin.rebuild()
    assert memory.admin.verify().wrong == ()
