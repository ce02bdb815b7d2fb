"""A migrated graph, a fresh tenant for each test, and a look past the client into the graph."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, LiteralString

import neo4j
import pytest

from graphmem.client import connect
from graphmem.model import Record
from graphmem.operations.erasing import guard
from graphmem.operations.schema import migration
from graphmem.ports import run_now
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from tests.plugins.server import Server


CLOCKED = frozenset(
    {"tenant", "tenant_key", "scope_key", "recorded_at", "locked_at", "asked_at", "owner", "until"}
    | {"known", "cursor"}
)
"""What differs between two tenants that were told the same, or two runs that did the same."""

MARKS = frozenset({"FLAG", "ARCHIVE", "RESTORE"})

BY_ID = ("tenant", "id")
BY_KEY = ("tenant", "key")
KEYS = {
    "Tenant": ("tenant",),
    "Memory": BY_ID,
    "Belief": BY_ID,
    "Episode": BY_ID,
    "Turn": BY_ID,
    "Event": BY_ID,
    "Predicate": BY_KEY,
    "Name": BY_KEY,
    "NameLock": BY_KEY,
    "Checkpoint": ("tenant", "slot_id"),
    "Consolidation": ("tenant", "scope"),
    "Reply": BY_ID,
    "Archive": BY_ID,
    "Artifact": BY_ID,
    "Rater": ("tenant",),
    "Rating": ("tenant", "kind", "id"),
    "Item": BY_ID,
    "ItemText": ("tenant",),
    "Namespace": BY_ID,
    "Tombstone": BY_KEY,
}
"""The properties by which a node of a tenant is unique, by its label."""


def _nodes() -> LiteralString:
    found = (
        f"MATCH (n:{label}) WHERE "
        + " AND ".join(["n.tenant = $tenant", *(f"n.{key} IS NOT NULL" for key in keys[1:])])
        + " RETURN n"
        for label, keys in KEYS.items()
    )
    return "CALL () { " + " UNION ALL ".join(found) + " } "


NODES: LiteralString = _nodes()
"""Start of a query of every node `n` of `$tenant`, by the indexes: a scan sees all tenants."""


@dataclass(frozen=True)
class Edge:
    """One SUPERSEDES edge."""

    newer: str
    older: str
    event_id: str
    occurred_at: datetime
    in_force: bool


class Look:
    """Reads what is really in the graph; writes nothing."""

    def __init__(self, driver: neo4j.Driver) -> None:
        self._driver = driver

    def rows(self, query: LiteralString, **params: object) -> list[dict[str, Any]]:
        """Run a reading query and return its rows."""
        found = self._driver.execute_query(query, params, routing_=neo4j.RoutingControl.READ)
        return [record.data() for record in found.records]

    def count(self, tenant: str) -> dict[str, int]:
        """How many nodes of each label a tenant has; its lock node is not counted."""
        # The id is asked for because the index is on both: a scan would look at every tenant.
        [row] = self.rows(
            "RETURN {"
            "  Memory: COUNT { MATCH (n:Memory {tenant: $tenant}) WHERE n.id IS NOT NULL },"
            "  Belief: COUNT { MATCH (n:Belief {tenant: $tenant}) WHERE n.id IS NOT NULL },"
            "  Predicate: COUNT { MATCH (n:Predicate {tenant: $tenant}) WHERE n.key IS NOT NULL },"
            "  Event: COUNT { MATCH (n:Event {tenant: $tenant}) WHERE n.id IS NOT NULL },"
            "  Episode: COUNT { MATCH (n:Episode {tenant: $tenant}) WHERE n.id IS NOT NULL },"
            "  Turn: COUNT { MATCH (n:Turn {tenant: $tenant}) WHERE n.id IS NOT NULL }"
            "} AS counts",
            tenant=tenant,
        )
        return {label: n for label, n in row["counts"].items() if n}

    def events(self, tenant: str) -> dict[str, dict[str, Any]]:
        """Every event of a tenant by its id, with all its properties and where its edges lead."""
        rows = self.rows(
            "MATCH (e:Event {tenant: $tenant}) WHERE e.id IS NOT NULL "
            "RETURN e.id AS id, properties(e) AS event, "
            "  [(e)-[r]->(n) | [type(r), labels(n)[0], n.id]] AS edges",
            tenant=tenant,
        )
        return {row["id"]: {**row["event"], "edges": sorted(row["edges"])} for row in rows}

    def graph(self, tenant: str) -> dict[str, list[Any]]:
        """Every node and edge of a tenant, but for what the clocks and locks of a run leave.

        Two tenants that were told the same have the same graph.
        """
        parts: tuple[tuple[LiteralString, str], ...] = (
            (
                NODES + "RETURN labels(n) AS of, properties(n) AS has",
                "node",
            ),
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
                # What a run marks, it marks at the time that it sees.
                for clocked in [
                    CLOCKED | ({"occurred_at"} if row["has"].get("type") in MARKS else set())
                ]
            )
            for query, kind in parts
        }

    def beliefs(self, tenant: str) -> dict[str, dict[str, Any]]:
        """Every belief of a tenant by its id, with all its properties."""
        rows = self.rows(
            "MATCH (b:Belief {tenant: $tenant}) WHERE b.id IS NOT NULL "
            "RETURN b.id AS id, properties(b) AS belief",
            tenant=tenant,
        )
        return {row["id"]: row["belief"] for row in rows}

    def edges(self, tenant: str) -> list[Edge]:
        """Every SUPERSEDES edge of a tenant, between memories or between beliefs."""
        rows = self.rows(
            "MATCH (a:Memory|Belief {tenant: $tenant}) WHERE a.id IS NOT NULL "
            "MATCH (a)-[s:SUPERSEDES]->(b) "
            "RETURN a.id AS newer, b.id AS older, s.event_id AS event_id, "
            "  s.occurred_at AS occurred_at, s.in_force AS in_force",
            tenant=tenant,
        )
        return [Edge(**{**row, "occurred_at": row["occurred_at"].to_native()}) for row in rows]


def has_cycle(edges: list[Edge]) -> bool:
    """Whether the edges in force lead from a memory or a belief back to itself."""
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
    """Settings of the session's server, its schema current, for the hash embedder."""
    settings = Settings.load({}, uri=server.uri, user=server.user, password=server.password)
    address = connect.address(settings, connect.silent)
    world = connect.blocking_world(settings, address, connect.silent, HashEmbedder())
    try:
        run_now(migration.migrate(world))
    finally:
        run_now(world.graph.close())
    with pytest.MonkeyPatch.context() as patch:
        # Who forgets waits for as long as writers trust, and hundreds of tests forget something.
        patch.setattr(guard, "TRUST_S", 0.05)
        yield settings


def driver_of(settings: Settings) -> neo4j.Driver:
    """Return a driver on a server that is known by its address and password."""
    assert settings.uri is not None
    assert settings.password is not None
    return neo4j.GraphDatabase.driver(
        settings.uri,
        auth=(settings.user, settings.password.get_secret_value()),
        notifications_min_severity="OFF",
    )


@pytest.fixture(scope="session")
def look(migrated: Settings) -> Iterator[Look]:
    """The graph seen without graphmem."""
    with driver_of(migrated) as driver:
        yield Look(driver)


@pytest.fixture
def driver(migrated: Settings) -> Iterator[neo4j.Driver]:
    """The graph past graphmem, to write as well."""
    with driver_of(migrated) as driver:
        yield driver


@pytest.fixture
def session(driver: neo4j.Driver) -> Iterator[neo4j.Session]:
    """The same, one connection of it."""
    with driver.session() as session:
        yield session


@pytest.fixture
def tenant() -> str:
    """A tenant that nobody has used."""
    return fresh_tenant()


def fresh_tenant() -> str:
    """Return a name that nobody has used."""
    return f"t-{uuid.uuid4().hex}"


def unfaded(found: Any) -> Any:
    """What was read, without how alive a belief is: that rests on looks, and fades."""
    if isinstance(found, dict):
        return {name: unfaded(value) for name, value in found.items() if name != "vitality"}
    if isinstance(found, list | tuple):
        return [unfaded(one) for one in found]
    return unfaded(found.model_dump()) if isinstance(found, Record) else found
