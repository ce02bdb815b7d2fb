// Append DEPRECATE, ARCHIVE and RESTORE events to memories and beliefs, and update their status.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// refers_to: events.about label
// params:
//   $events  list  maps: about (the id), label (Memory or Belief) and the event properties
// columns:
//   - written  integer  number of events appended

UNWIND $events AS given
LET event = given {.*, trust: $trust['none']}
MATCH (m:Memory|Belief {tenant: $tenant, id: event.about})
WHERE event.label IN labels(m)
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(m)
WITH m, count(e) AS n
// include: fragments/refresh_status.cypher
RETURN sum(n) AS written
