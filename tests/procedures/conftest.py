"""A graph with one of everything, a server that has the procedures, and how both are asked."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import neo4j
import neo4j.graph
import pytest

from graphmem import Handle
from graphmem.graph import catalog
from graphmem.graph.driver import packed
from graphmem.local_server.plugin.java_source import (
    BEGINNING,
    FOREVER,
    NOW,
    TENANT,
    ProcedureSpec,
    procedure_specs,
)
from graphmem.rules import read_options
from graphmem.settings import Settings
from tests.plugins.clients import on_tenant
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import write_everything
from tests.plugins.graph import driver_of, fresh_tenant
from tests.plugins.server import Server
from tests.plugins.texts import unlike

OFFERS = {offer.procedure.name: offer for offer in procedure_specs(Settings())}

ANY = "SHOW PROCEDURES YIELD name WHERE name STARTS WITH 'graphmem.' RETURN name LIMIT 1"

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Populated:
    """A tenant that has one of everything, and the ids of some of it."""

    tenant: str
    known: Mapping[str, str]
    at: datetime
    """Later than all of it."""


@dataclass(frozen=True)
class Asked:
    """A server that is asked by CALL and by the catalog's own text."""

    driver: neo4j.Driver

    def call(self, offer: ProcedureSpec, arguments: list[Any]) -> Rows:
        """Return the rows of a CALL with these arguments, in order."""
        names = [f"a{place}" for place in range(len(arguments))]
        text = f"CALL {offer.name}({', '.join(f'${name}' for name in names)})"
        return self.run(text, dict(zip(names, arguments, strict=True)))

    def query(self, name: str, params: Mapping[str, Any]) -> Rows:
        """Return the rows of a query of the catalog, as the client sends it."""
        then, rows = catalog.procedure(name).then, self._rows(name, params)
        return self._rows(then, {**params, catalog.FOUND: rows[0]}) if then else rows

    def _rows(self, name: str, params: Mapping[str, Any]) -> Rows:
        query = catalog.query(name, dict)
        given = {name: params[name] for name in query.params}
        return self.run(catalog.LANGUAGE + catalog.in_one_map(query), packed(query, given))

    def run(self, text: str, params: Mapping[str, Any] | None = None) -> Rows:
        """Return the rows of a text; the server's clock is no part of them."""
        with self.driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
            result = session.run(text, dict(params or {}))
            names = result.keys()
            found = [dict(zip(names, record.values(), strict=True)) for record in result]
        return [{name: told(row[name]) for name in row if name != "now"} for row in found]


def told(value: Any) -> Any:
    """Return nodes, relationships and paths, all through, as what they say, which two can share."""
    if isinstance(value, neo4j.graph.Node):
        return [value.element_id, sorted(value.labels), dict(value.items())]
    if isinstance(value, neo4j.graph.Relationship):
        return [value.element_id, value.type, dict(value.items())]
    if isinstance(value, neo4j.graph.Path):
        return [told(part) for part in (*value.nodes, *value.relationships)]
    if isinstance(value, list):
        return [told(part) for part in value]
    if isinstance(value, dict):
        return {name: told(part) for name, part in value.items()}
    return value


@pytest.fixture(scope="session")
def asked(server: Server, migrated: Settings) -> Iterator[Asked]:
    """The session's server; skipped where somebody else started it without the plugin."""
    with driver_of(migrated) as driver:
        found = Asked(driver)
        if server.kind != "managed" and not found.run(ANY):
            pytest.skip(f"the server of {server.kind} has no plugin of procedures")
        yield found


@pytest.fixture(scope="session")
def populated(client: Handle, asked: Asked) -> Populated:
    """A tenant that has one of everything."""
    tenant = fresh_tenant()
    memory = on_tenant(client, tenant)
    known = write_everything(memory)
    write_everything(memory.scope("alice"), mark="a")
    tell(memory, SWIMS)
    assert memory.consolidate(policy=FEW).changes
    memory.session("left open").recall(unlike(1))
    memory.recall(unlike(2))
    memory.usage.flush()
    assert memory.admin.seal().seals
    memory.remember(unlike(61))  # an event without a seal
    # Another one, about a sealed memory.
    memory.remember(memory.memories.get(known["memory"]).content)
    [reply, *_] = asked.run(
        "MATCH (r:Reply {tenant: $tenant}) WHERE r.id IS NOT NULL RETURN r.id AS id",
        {"tenant": tenant},
    )
    asked.driver.execute_query(
        "MATCH (b:Belief {tenant: $tenant, id: $id}) SET b.unembedded = true",
        tenant=tenant,
        id=known["other"],
    )
    asked.driver.execute_query(
        """
        CREATE (:Job {tenant: $tenant, name: 'usage.rate', finished_at: datetime(), failures: 0})
        WITH *
        MATCH (u:Turn {tenant: $tenant, scope: 'global'})
        WHERE NOT EXISTS { (u)<-[:QUOTES]-(:Event) }
        LIMIT 1
        CREATE (r:Reply {
          tenant: $tenant, id: 'failed', scope: 'global', done: false, attempts: 1,
          problem: 'model_reply: no JSON', recorded_at: datetime()
        })
        CREATE (r)-[:RESTS_ON]->(u)
        """,
        tenant=tenant,
    )
    _settled(memory)
    return Populated(tenant, {**known, "reply": reply["id"]}, datetime.now(UTC))


def _settled(memory: Handle) -> None:
    """Wait until the indexes show all that was written."""
    deadline = time.monotonic() + 300
    ids: list[str] | None = None
    while True:
        found = memory.recall(unlike(1), include_hidden=True, limit=100)
        if ids == [bite.id for bite in found.bites] and ids:
            return
        assert time.monotonic() < deadline, "the indexes never came to rest"
        ids = [bite.id for bite in found.bites]
        time.sleep(1)


def values(offer: ProcedureSpec, populated: Populated, needed: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for every argument of a procedure: what it needs, and what it assumes."""
    instants = {NOW: populated.at, BEGINNING: read_options.BEGINNING, FOREVER: read_options.FOREVER}
    given = {TENANT: populated.tenant, **needed}
    for one in offer.arguments:
        if one.name not in given:
            value = one.default.value if one.default else None
            given[one.name] = instants.get(str(value)) if one.kind == "datetime" else value
    return given
