// Append the ends of sessions, numbered one after another in the order in which they are committed, so that whoever reads on from a
// number misses none. One that is there already, or whose session's beginning is not, is passed over.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// ids: events.id Event
// params:
//   $tenant  string  whose
//   $events  list    maps: within, the id of the session's beginning, and the event's own fields
// columns:
//   - written  integer  events appended

MERGE (r:Rater {tenant: $tenant})
// Written before anything is looked for, so that of two writers one waits for the other.
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
