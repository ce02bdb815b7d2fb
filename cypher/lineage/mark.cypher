// Append DEPRECATE and RESTORE events to memories and bring their status up to date.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  whose
//   $events  list    in order: memory_id and the event's own fields
// columns:
//   - written  integer  events appended

UNWIND $events AS event
MATCH (m:Memory {tenant: $tenant, id: event.memory_id})
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(m)
WITH m, count(e) AS n
// include: fragments/refresh_status.cypher
RETURN sum(n) AS written
