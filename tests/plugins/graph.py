"""A migrated graph, a fresh tenant for each test, and direct access to the graph."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, LiteralString

import neo4j
import pytest

from graphmem.client import connect
from graphmem.erasure import guard
from graphmem.model import Record
from graphmem.nodes.declared import NODE_CLASSES, indexes, properties
from graphmem.ports import run_now
from graphmem.schema import migration
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from tests.plugins.server import Server


_MARK = re.compile(r"^[0-9a-f]{16}\.")
"""Start of an id that a caller gave: see `identity.given_event_id`."""
CLOCKED = frozenset(
    {
        "tenant",
        "tenant_key",
        "scope_key",
        "facet_keys",
        "value_key",
        "statement_key",
        "ruled_paths",
        "paths",
        "imported_path",
        "recorded_at",
        "locked_at",
        "asked_at",
        "owner",
        "until",
    }
    | {"known", "cursor", "away_since", "retry_at", "last_lock"}
)
"""Properties that differ between tenants or runs with the same input."""

MARKS = frozenset({"FLAG", "ARCHIVE", "RESTORE"})

KEYS = {
    label: next((index.on for index in some if index.kind == "unique"), ("tenant",))
    for label, some in indexes().items()
    if label in NODE_CLASSES and "tenant" in properties(NODE_CLASSES[label])
}
"""Properties that identify a node of a tenant, by label."""


def _nodes() -> LiteralString:
    parts = (
        f"MATCH (n:{label}) WHERE "
        + " AND ".join(["n.tenant = $tenant", *(f"n.{key} IS NOT NULL" for key in keys[1:])])
        + " RETURN n"
        for label, keys in KEYS.items()
    )
    return "CALL () { " + " UNION ALL ".join(parts) + " } "


NODES: LiteralString = _nodes()
"""Start of a query of all nodes `n` of `$tenant` by index; a scan would read all tenants."""


@dataclass(frozen=True)
class Edge:
    """One SUPERSEDES edge."""

    newer: str
    older: str
    event_id: str
    occurred_at: datetime
    in_force: bool


class Look:
    """Read-only access to the graph."""

    def __init__(self, driver: neo4j.Driver) -> None:
        self._driver = driver

    def rows(self, query: LiteralString, **params: object) -> list[dict[str, Any]]:
        """Run a read query and return its rows."""
        result = self._driver.execute_query(query, params, routing_=neo4j.RoutingControl.READ)
        return [record.data() for record in result.records]

    def count(self, tenant: str) -> dict[str, int]:
        """Return the number of nodes of each label of a tenant, without its lock node."""
        # The condition on the id uses the composite index; a scan would read every tenant.
        [row] = self.rows(
            "RETURN {"
            "  Memory: COUNT { MATCH (n:Memory {tenant: $tenant}) WHERE n.id IS NOT NULL },"
            "  Belief: COUNT { MATCH (n:Belief {tenant: $tenant}) WHERE n.id IS NOT NULL },"
            "  Predicate: COUNT { MATCH (n:Predicate {tenant: $tenant}) WHERE n.id IS NOT NULL },"
            "  Event: COUNT { MATCH (n:Event {tenant: $tenant}) WHERE n.id IS NOT NULL },"
            "  Episode: COUNT { MATCH (n:Episode {tenant: $tenant}) WHERE n.id IS NOT NULL },"
            "  Turn: COUNT { MATCH (n:Turn {tenant: $tenant}) WHERE n.id IS NOT NULL }"
            "} AS counts",
            tenant=tenant,
        )
        return {label: n for label, n in row["counts"].items() if n}

    def events(self, tenant: str) -> dict[str, dict[str, Any]]:
        """Return all events of a tenant by id, with their properties and relationships."""
        rows = self.rows(
            "MATCH (e:Event {tenant: $tenant}) WHERE e.id IS NOT NULL "
            "RETURN e.id AS id, properties(e) AS event, "
            "  [(e)-[r]->(n) | [type(r), labels(n)[0], n.id]] AS edges",
            tenant=tenant,
        )
        return {row["id"]: {**row["event"], "edges": sorted(row["edges"])} for row in rows}

    def given_events(self, tenant: str) -> dict[str, dict[str, Any]]:
        """Return all events of a tenant by the id that their caller gave, as far as one did."""
        return {_MARK.sub("", key): event for key, event in self.events(tenant).items()}

    def graph(self, tenant: str) -> dict[str, list[Any]]:
        """Return all nodes and relationships of a tenant, without clock and lock properties.

        Two tenants with the same input have the same graph.
        """
        parts: tuple[tuple[LiteralString, str], ...] = (
            (NODES + "RETURN labels(n) AS of, properties(n) AS has", "node"),
            (
                NODES + "MATCH (n)-[r]->(b) "
                "RETURN [type(r), coalesce(n.id, ''), coalesce(b.id, '')] AS of, "
                "properties(r) AS has",
                "edge",
            ),
        )
        return {
            kind: sorted(
                repr((row["of"], sorted((k, v) for k, v in row["has"].items() if k not in clocked)))
                for row in self.rows(query, tenant=tenant)
                # Marks that a run sets have the time of the run.
                for clocked in [
                    CLOCKED | ({"occurred_at"} if row["has"].get("type") in MARKS else set())
                ]
            )
            for query, kind in parts
        }

    def beliefs(self, tenant: str) -> dict[str, dict[str, Any]]:
        """Return all beliefs of a tenant by id, with all properties."""
        rows = self.rows(
            "MATCH (b:Belief {tenant: $tenant}) WHERE b.id IS NOT NULL "
            "RETURN b.id AS id, properties(b) AS belief",
            tenant=tenant,
        )
        return {row["id"]: row["belief"] for row in rows}

    def edges(self, tenant: str) -> list[Edge]:
        """Return all SUPERSEDES relationships of a tenant, between memories or between beliefs."""
        rows = self.rows(
            "MATCH (a:Memory|Belief {tenant: $tenant}) WHERE a.id IS NOT NULL "
            "MATCH (a)-[s:SUPERSEDES]->(b) "
            "RETURN a.id AS newer, b.id AS older, s.event_id AS event_id, "
            "  s.occurred_at AS occurred_at, s.in_force AS in_force",
            tenant=tenant,
        )
        return [Edge(**{**row, "occurred_at": row["occurred_at"].to_native()}) for row in rows]


def has_cycle(edges: list[Edge]) -> bool:
    """Return whether the relationships in force contain a cycle."""
    older: dict[str, set[str]] = {}
    for edge in edges:
        if edge.in_force:
            older.setdefault(edge.newer, set()).add(edge.older)
    left = dict(older)
    while left:
        ends = [node for node, below in left.items() if not below & left.keys()]
        if not ends:
            return True
        for node in ends:
            del left[node]
    return False


@pytest.fixture(scope="session")
def migrated(server: Server) -> Iterator[Settings]:
    """Settings of the session's server with the current schema, for the hash embedder."""
    settings = Settings.load({}, uri=server.uri, user=server.user, password=server.password)
    address = connect.address(settings, connect.silent)
    services = connect.open_services(settings, address, connect.silent, HashEmbedder())
    try:
        run_now(migration.migrate(services))
    finally:
        run_now(services.graph.close())
    with pytest.MonkeyPatch.context() as patch:
        # `forget` waits until writers check for tombstones again, and hundreds of tests call it.
        patch.setattr(guard, "TRUST_S", 0.05)
        yield settings


def driver_of(settings: Settings) -> neo4j.Driver:
    """Return a driver on the server with these settings, which contain address and password."""
    assert settings.uri is not None
    assert settings.password is not None
    return neo4j.GraphDatabase.driver(
        settings.uri,
        auth=(settings.user, settings.password.get_secret_value()),
        notifications_min_severity="OFF",
    )


@pytest.fixture(scope="session")
def look(migrated: Settings) -> Iterator[Look]:
    """Direct read access to the graph."""
    with driver_of(migrated) as driver:
        yield Look(driver)


@pytest.fixture
def driver(migrated: Settings) -> Iterator[neo4j.Driver]:
    """Direct read and write access to the graph."""
    with driver_of(migrated) as driver:
        yield driver


@pytest.fixture
def session(driver: neo4j.Driver) -> Iterator[neo4j.Session]:
    """A session of the direct driver."""
    with driver.session() as session:
        yield session


@pytest.fixture
def tenant() -> str:
    """An unused tenant."""
    return fresh_tenant()


def fresh_tenant() -> str:
    """Return an unused tenant name."""
    return f"t-{uuid.uuid4().hex}"


def unfaded(found: Any) -> Any:
    """Return a result without vitality, which depends on accesses and decays."""
    if isinstance(found, dict):
        return {name: unfaded(value) for name, value in found.items() if name != "vitality"}
    if isinstance(found, list | tuple):
        return [unfaded(item) for item in found]
    return unfaded(found.model_dump()) if isinstance(found, Record) else found
