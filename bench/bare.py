"""The baseline: plain Cypher over plain driver calls, without anything of graphmem around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import neo4j

if TYPE_CHECKING:
    from types import TracebackType

    from graphmem.client.connect import Address

# One search a row, as the near-duplicate check needs it.
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

# The nodes, the properties and the edge that remembering a text leaves.
INSERT = """CYPHER 25
UNWIND $rows AS row
CREATE (m:Memory {
  tenant: $tenant, tenant_key: $tenant_key, id: row.id, scope: row.scope, scope_key: row.scope_key,
  content: row.content, content_hash: row.content_hash, tags: row.tags, status: 'current',
  created_at: row.occurred_at,
  recorded_at: datetime.truncate('microsecond', datetime.realtime('Z'))
})
CREATE (e:Event {
  tenant: $tenant, id: row.event_id, scope: row.scope, type: 'ADD', occurred_at: row.occurred_at,
  recorded_at: datetime.truncate('microsecond', datetime.realtime('Z')),
  request_hash: row.request_hash, content_hash: row.content_hash, source: row.source,
  actor: row.actor, artifact_ref: row.artifact_ref, payload: row.payload
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

VERSION = "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0]"


class Bare:
    """A driver and nothing else."""

    def __init__(self, at: Address) -> None:
        self._driver = neo4j.GraphDatabase.driver(
            at.uri, auth=(at.user, at.password), notifications_min_severity="OFF"
        )

    def insert(self, tenant: str, tenant_key: str, rows: Sequence[dict[str, Any]]) -> None:
        """Search once a row, then insert memories and events, in one transaction."""

        def work(tx: neo4j.ManagedTransaction) -> None:
            list(tx.run(SEARCH_EACH, tenant=tenant, rows=rows))
            tx.run(INSERT, tenant=tenant, tenant_key=tenant_key, rows=rows).consume()

        with self._driver.session() as session:
            session.execute_write(work)

    def nearest(self, tenant: str, embedding: list[float], limit: int) -> list[str]:
        """Return the ids of the nearest memories of a tenant, best first."""
        with self._driver.session() as session:
            return session.execute_read(
                lambda tx: [
                    row["id"]
                    for row in tx.run(NEAREST, tenant=tenant, embedding=embedding, limit=limit)
                ]
            )

    def write(self, text: str, **params: object) -> None:
        """Run one statement in a transaction."""
        with self._driver.session() as session:
            session.execute_write(lambda tx: tx.run("CYPHER 25\n" + text, params).consume())

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
