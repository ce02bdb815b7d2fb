// Append a SUPERSEDE event with its edge from the newer memory to the older one.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: event.id Event
// refers_to: newer_id Memory, older_id Memory
// params:
//   $event     map     event properties
//   $newer_id  string  id of the superseding memory
//   $older_id  string  id of the superseded memory
// columns:
//   - written  integer  number of memories whose lineage changed: 2

MATCH (older:Memory {tenant: $tenant, id: $older_id})
WITH older, $event AS given
MATCH (newer:Memory {tenant: $tenant, id: $newer_id})
LET event = given {.*, trust: $trust['none']}
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(older)
CREATE (e)-[:CONCERNS]->(newer)
CREATE (newer)-[:SUPERSEDES {event_id: e.id, occurred_at: e.occurred_at, recorded_at: e.recorded_at}]->(older)
WITH older, newer
UNWIND [older, newer] AS m
// include: fragments/refresh_status.cypher
RETURN count(m) AS written
