// Append ACCESS events, each with an edge to what was looked at and to its session. One that is there already, or whose item is no
// longer there, is passed over.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// ids: events.id Event, events.item_id label
// params:
//   $tenant  string  whose
//   $events  list    maps: label and item_id of what was looked at, within (the session's beginning or null), the event's fields
// columns:
//   - written  integer  events appended

UNWIND $events AS event
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
FILTER there IS NULL
MATCH (n:Memory|Belief|Turn|Episode|Artifact {tenant: $tenant, id: event.item_id})
WHERE event.label IN labels(n)
// include: fragments/append_event.cypher
CREATE (e)-[:ACCESSED]->(n)
WITH e, event
CALL (e, event) {
  MATCH (start:Event {tenant: $tenant, id: event.within})
  CREATE (e)-[:WITHIN]->(start)
}
RETURN count(e) AS written
