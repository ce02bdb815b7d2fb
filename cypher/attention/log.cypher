// Append ACCESS events, each with an edge to what was looked at. One that is there already, or whose item is no longer there, is
// passed over.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  whose
//   $events  list    maps: label and item_id of what was looked at, and the event's own fields
// columns:
//   - written  integer  events appended

UNWIND $events AS event
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
FILTER there IS NULL
MATCH (n:Memory|Belief|Turn|Episode {tenant: $tenant, id: event.item_id})
WHERE event.label IN labels(n)
// include: fragments/append_event.cypher
CREATE (e)-[:ACCESSED]->(n)
RETURN count(e) AS written
