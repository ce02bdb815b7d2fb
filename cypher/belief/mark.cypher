// Append ARCHIVE, RESTORE, FLAG and RESOLVE events to beliefs, and update their status. Events that already exist are
// skipped.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// refers_to: events.belief_id Belief
// params:
//   $events  list      maps with unique ids: belief_id and the event properties
//   $known   datetime  null: the flag takes all events into account
// columns:
//   - id       string   belief id
//   - written  integer  number of events appended to the belief
//   - changed  boolean  whether the status or the flag changed
//   - status   string   status after the write
//   - flagged  boolean  flag after the write, by the evidence and the FLAG and RESOLVE events

UNWIND $events AS event
MATCH (m:Belief {tenant: $tenant, id: event.belief_id})
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
WITH m, collect(CASE WHEN there IS NULL THEN event END) AS fresh
// Sorting by belief prevents deadlocks between concurrent batches.
ORDER BY m.id
LET before = m.status
// include: fragments/flagged.cypher
LET flag = flagged
CALL (m, fresh) {
  UNWIND fresh AS event
  // include: fragments/append_event.cypher
  CREATE (e)-[:CONCERNS]->(m)
  RETURN count(e) AS written, min(e.occurred_at) AS first_at
}
// A belief exists at the latest from its first event on, whenever it was first stated.
SET m.created_at = CASE WHEN first_at < m.created_at THEN first_at ELSE m.created_at END
WITH m, before, flag, written
// include: fragments/refresh_status.cypher
WITH m, before, flag, written
// include: fragments/flagged.cypher
RETURN m.id AS id, written, before <> m.status OR flag <> flagged AS changed, m.status AS status, flagged
