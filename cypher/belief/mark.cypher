// Append ARCHIVE, RESTORE, FLAG and RESOLVE events to beliefs, bring their status up to date and tell what became of each; an event
// that is there already is passed over.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// ids: events.id Event, events.belief_id Belief
// params:
//   $tenant  string  tenant name
//   $events  list    maps of ids of their own: belief_id and the event's own fields
// columns:
//   - id       string   of a belief
//   - written  integer  events appended to it
//   - changed  boolean  its status, or whether it is flagged, is another one than before
//   - status   string   after it
//   - flagged  boolean  after it: the newest of its FLAG and RESOLVE events is a FLAG

UNWIND $events AS event
MATCH (m:Belief {tenant: $tenant, id: event.belief_id})
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
WITH m, collect(CASE WHEN there IS NULL THEN event END) AS fresh
// In the order of beliefs, so that two batches wait for each other and never in a ring.
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
// What is marked was there then, whenever it was first stated.
SET m.created_at = CASE WHEN first_at < m.created_at THEN first_at ELSE m.created_at END
WITH m, before, flag, written
// include: fragments/refresh_status.cypher
WITH m, before, flag, written
// include: fragments/flagged.cypher
RETURN m.id AS id, written, before <> m.status OR flag <> flagged AS changed, m.status AS status, flagged
