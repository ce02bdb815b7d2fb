// Append SESSION_END events. Their positions follow commit order, so a reader that continues from a position misses
// none. Events that already exist, or whose SESSION_START does not exist, are skipped.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// params:
//   $events  list  maps: within, the id of the SESSION_START event, and the event properties
// columns:
//   - written  integer  number of events appended

MERGE (r:Rater {tenant: $tenant})
// Writing before reading takes the write lock, so concurrent writers are serialised.
SET r.ended = coalesce(r.ended, 0)
WITH r, r.ended AS ended
UNWIND range(0, size($events) - 1) AS n
WITH r, $events[n] AS given, ended + n + 1 AS position
LET event = given {.*, position: position}
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
FILTER there IS NULL
MATCH (start:Event {tenant: $tenant, id: event.within})
// include: fragments/append_event.cypher
CREATE (e)-[:WITHIN]->(start)
WITH r, count(e) AS written, max(e.position) AS last
SET r.ended = coalesce(last, r.ended)
RETURN written
