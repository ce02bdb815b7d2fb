// Attach the missing events to SUPERSEDES edges. An event that already exists, because a memory was deleted and created
// again, is linked again.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: edges.event.id Event
// refers_to: edges.newer_id Memory, edges.older_id Memory
// params:
//   $tenant  string  tenant name
//   $edges   list    maps: newer_id, older_id, event (the event properties)
// columns:
//   - dated  integer  number of pairs of memories whose edges received an event

UNWIND $edges AS row
MATCH (older:Memory {tenant: $tenant, id: row.older_id})
WITH row.event AS event, row.newer_id AS newer_id, older
MATCH (newer:Memory {tenant: $tenant, id: newer_id})
WHERE EXISTS { MATCH (newer)-[:SUPERSEDES]->(older) }
CALL (event) {
  MATCH (e:Event {tenant: $tenant, id: event.id})
  RETURN e
UNION ALL
  FILTER NOT EXISTS { MATCH (x:Event {tenant: $tenant, id: event.id}) }
  // include: fragments/append_event.cypher
  RETURN e
}
MERGE (e)-[:CONCERNS]->(older)
MERGE (e)-[:CONCERNS]->(newer)
WITH e, newer, older
MATCH (newer)-[s:SUPERSEDES]->(older)
WHERE NOT (
  s.event_id IS :: STRING NOT NULL AND s.occurred_at IS :: ZONED DATETIME NOT NULL
  AND s.recorded_at IS :: ZONED DATETIME NOT NULL
)
SET s.event_id = e.id, s.occurred_at = e.occurred_at, s.recorded_at = e.recorded_at
RETURN count(DISTINCT e) AS dated
