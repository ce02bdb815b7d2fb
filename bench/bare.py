"""The baseline: plain Cypher through the Neo4j driver, without graphmem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, LiteralString, Self

import neo4j
from neo4j.vector import Vector

if TYPE_CHECKING:
    from types import TracebackType

    from graphmem.ports import ServerAddress

# One search per row, as the near-duplicate check needs it.
SEARCH_EACH = """CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH (n:Memory)
  SEARCH n IN (
    VECTOR INDEX memory_embedding_vector
    FOR row.embedding
    WHERE n.tenant = $tenant
    LIMIT 5
  ) SCORE AS score
  RETURN collect({id: n.id, score: score}) AS near
}
RETURN row.id AS id, near
"""

# The nodes, properties and relationships that remembering a text creates.
INSERT = """CYPHER 25
UNWIND $rows AS row
CREATE (m:Memory {
  tenant: $tenant, tenant_key: $tenant_key, id: row.id, scope: row.scope, scope_key: row.scope_key,
  content: row.content, content_hash: row.content_hash, tags: row.tags, sources: [row.source],
  facet_keys: row.facet_keys, value_key: row.value_key, status: 'current',
  created_at: row.occurred_at,
  recorded_at: datetime.truncate('microsecond', datetime.realtime('Z')),
  trace: 1.0, trace_at: row.occurred_at, trace_full_at: row.occurred_at, trace_burst: 0
})
CREATE (e:Event {
  tenant: $tenant, id: row.event_id, scope: row.scope, type: 'ADD', occurred_at: row.occurred_at,
  recorded_at: datetime.truncate('microsecond', datetime.realtime('Z')),
  request_hash: row.request_hash, content_hash: row.content_hash, source: row.source,
  actor: row.actor, artifact_ref: row.artifact_ref, payload: row.payload, trust: row.trust
})
CREATE (e)-[:REINFORCES]->(m)
WITH m, row
CALL db.create.setNodeVectorProperty(m, 'embedding', row.embedding)
"""

NEAREST = """CYPHER 25
MATCH (n:Memory)
SEARCH n IN (
  VECTOR INDEX memory_embedding_vector
  FOR $embedding
  WHERE n.tenant = $tenant
  LIMIT $limit
) SCORE AS score
RETURN n.id AS id, score
"""

NEAREST_CURRENT = """CYPHER 25
MATCH (n:Memory)
SEARCH n IN (
  VECTOR INDEX memory_embedding_vector
  FOR $embedding
  WHERE n.tenant = $tenant AND n.scope IN ['global'] AND n.status IN ['current']
  LIMIT $limit
) SCORE AS score
RETURN n.id AS id, score
"""

# Memories with their events, as if they had been remembered many times.
LOAD = """CYPHER 25
UNWIND $rows AS row
CREATE (m:Memory {
  tenant: $tenant, tenant_key: $tenant_key, id: row.id, scope: $scope, scope_key: $scope_key,
  content: row.content, content_hash: row.content_hash, value_key: row.value_key, tags: [],
  status: 'current',
  created_at: $times[0], recorded_at: $times[0],
  sources: ['manual'], facet_keys: $facet_keys,
  trace: $trace.trace, trace_at: $trace.at, trace_full_at: $trace.full_at,
  trace_burst: $trace.burst, token_states: row.token_states
})
WITH m, row
CALL db.create.setNodeVectorProperty(m, 'embedding', row.embedding)
UNWIND range(0, size($times) - 1) AS n
CREATE (e:Event {
  tenant: $tenant, id: 'e-' + row.number + '-' + n, scope: $scope,
  type: CASE n WHEN 0 THEN 'ADD' ELSE 'REINFORCE_EXACT' END, occurred_at: $times[n],
  recorded_at: $times[n], content_hash: row.content_hash, source: 'manual', payload: '{}'
})
CREATE (e)-[:REINFORCES]->(m)
"""

SUPERSEDE = """CYPHER 25
UNWIND $rows AS row
MATCH (older:Memory {tenant: $tenant, id: row.older})
MATCH (newer:Memory {tenant: $tenant, id: row.newer})
CREATE (e:Event {
  tenant: $tenant, id: row.id, scope: $scope, type: 'SUPERSEDE', occurred_at: row.at,
  recorded_at: row.at, source: 'manual', payload: row.payload
})
CREATE (e)-[:CONCERNS]->(older)
CREATE (e)-[:CONCERNS]->(newer)
CREATE (newer)-[:SUPERSEDES {
  event_id: row.id, occurred_at: row.at, recorded_at: row.at, in_force: true
}]->(older)
SET older.status = 'superseded'
"""

LOAD_EVIDENCE = """CYPHER 25
UNWIND $rows AS row
MATCH (b:Belief {tenant: $tenant, id: row.belief_id})
CREATE (e:Event {
  tenant: $tenant, id: row.id, scope: $scope, type: 'EVIDENCE', occurred_at: row.at,
  recorded_at: row.at, polarity: row.polarity, confidence: row.confidence,
  source_type: row.source_type, episode_id: row.episode_id, source: 'manual', payload: '{}'
})
FOREACH (x IN CASE row.polarity WHEN 1 THEN [1] ELSE [] END |
  CREATE (e)-[:SUPPORTS {tenant: $tenant, slot_id: $slot_id, recorded_at: row.at}]->(b))
FOREACH (x IN CASE row.polarity WHEN -1 THEN [1] ELSE [] END |
  CREATE (e)-[:REFUTES {tenant: $tenant, slot_id: $slot_id, recorded_at: row.at}]->(b))
WITH e, row
WHERE row.episode_id IS NOT NULL
MERGE (p:Episode {tenant: $tenant, id: row.episode_id})
CREATE (e)-[:OCCURRED_IN]->(p)
"""

VERSION = (
    "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0]"
)


class Bare:
    """The Neo4j driver with the baseline queries."""

    def __init__(self, at: ServerAddress) -> None:
        self._driver = neo4j.GraphDatabase.driver(
            at.uri, auth=(at.user, at.password), notifications_min_severity="OFF"
        )

    def insert(
        self, tenant: str, tenant_key: str, rows: Sequence[dict[str, Any]], *, search: bool = True
    ) -> None:
        """Insert memories and events, in one transaction; first search once per row."""

        def work(tx: neo4j.ManagedTransaction) -> None:
            if search:
                list(tx.run(SEARCH_EACH, tenant=tenant, rows=rows))
            tx.run(INSERT, tenant=tenant, tenant_key=tenant_key, rows=rows).consume()

        with self._driver.session() as session:
            session.execute_write(work)

    def nearest(self, tenant: str, embedding: Vector, limit: int) -> list[str]:
        """Return the ids of the nearest memories of a tenant, best first."""
        return self._ids(NEAREST, tenant, embedding, limit)

    def nearest_current(self, tenant: str, embedding: Vector, limit: int) -> list[str]:
        """Return the ids of the nearest current memories in a tenant's global scope."""
        return self._ids(NEAREST_CURRENT, tenant, embedding, limit)

    def _ids(self, text: LiteralString, tenant: str, embedding: Vector, limit: int) -> list[str]:
        with self._driver.session() as session:
            return session.execute_read(
                lambda tx: [
                    row["id"]
                    for row in tx.run(text, tenant=tenant, embedding=embedding, limit=limit)
                ]
            )

    def count(self, text: LiteralString) -> int:
        """Return the number in the column `found` of a query."""
        [row] = self._driver.execute_query(text).records
        return int(row["found"])

    def write(self, text: LiteralString, **params: object) -> None:
        """Run one statement in a transaction."""
        with self._driver.session() as session:
            session.execute_write(lambda tx: tx.run(text, params).consume())

    def rows(self, text: LiteralString, **params: object) -> list[dict[str, Any]]:
        """Return the rows of one statement."""
        return [row.data() for row in self._driver.execute_query(text, params).records]

    def await_indexes(self) -> None:
        """Wait until the indexes contain everything that was written."""
        self._driver.execute_query("CALL db.awaitIndexes(300)")
        self._driver.execute_query("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")

    def server_version(self) -> str:
        """Return the version of Neo4j."""
        return str(self._driver.execute_query(VERSION).records[0][0])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._driver.close()
