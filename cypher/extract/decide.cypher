// Append ACCEPT and DISMISS events to proposals. Events that already exist are skipped.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// refers_to: events.proposal_id Event
// params:
//   $events  list  maps: proposal_id and the event properties
// columns:
//   - written  integer  number of events appended

UNWIND $events AS event
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
FILTER there IS NULL
MATCH (proposal:Event {tenant: $tenant, id: event.proposal_id})
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(proposal)
RETURN count(e) AS written
