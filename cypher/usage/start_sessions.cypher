// Append SESSION_START events. Events that already exist are skipped.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// params:
//   $events  list  maps of event properties
// columns:
//   - written  integer  number of events appended

UNWIND $events AS event
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
FILTER there IS NULL
// include: fragments/append_event.cypher
RETURN count(e) AS written
