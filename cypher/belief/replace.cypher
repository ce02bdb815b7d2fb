// Append one event by which beliefs supersede others, with an edge from each newer to each older one.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: event.id Event
// refers_to: newer Belief, older Belief
// params:
//   $event  map   event properties
//   $newer  list  ids of the superseding beliefs
//   $older  list  ids of the superseded beliefs
// columns:
//   - written  integer  number of beliefs whose lineage changed

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
// A superseded belief exists at the latest from this event on, whenever it was first stated.
SET m.created_at = CASE WHEN $event.occurred_at < m.created_at THEN $event.occurred_at ELSE m.created_at END
WITH m
// include: fragments/refresh_status.cypher
RETURN count(m) AS written
