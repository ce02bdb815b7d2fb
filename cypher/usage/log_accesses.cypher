// Append ACCESS events, each linked to the accessed item and to its session. Events that already exist, or whose item
// no longer exists, are skipped.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// refers_to: events.item_id label
// params:
//   $events  list  maps: label and item_id of the accessed item, within (id of the SESSION_START event, or null), the event properties
// columns:
//   - written  integer  number of events appended

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
