// Append one event by which some beliefs take the place of others, with an edge from each newer to each older one.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// ids: event.id Event, newer Belief, older Belief
// params:
//   $tenant  string  tenant name
//   $event   map     the event's own fields
//   $newer   list    ids of what is believed from now on
//   $older   list    ids of what it replaces
// columns:
//   - written  integer  beliefs whose lineage changed

WITH $event AS event
// include: fragments/append_event.cypher
WITH e
MATCH (b:Belief {tenant: $tenant})
WHERE b.id IN $newer OR b.id IN $older
CREATE (e)-[:CONCERNS]->(b)
WITH e, collect(b) AS touched
CALL (e, touched) {
  UNWIND [x IN touched WHERE x.id IN $newer] AS newer
  UNWIND [x IN touched WHERE x.id IN $older] AS older
  CREATE (newer)-[:SUPERSEDES {event_id: e.id, occurred_at: e.occurred_at, recorded_at: e.recorded_at}]->(older)
}
MATCH (m:Belief {tenant: $tenant})
WHERE m.id IN $newer OR m.id IN $older
// What is replaced was there then, whenever it was first stated.
SET m.created_at = CASE WHEN $event.occurred_at < m.created_at THEN $event.occurred_at ELSE m.created_at END
WITH m
// include: fragments/refresh_status.cypher
RETURN count(m) AS written
