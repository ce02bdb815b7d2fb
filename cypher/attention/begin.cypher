// Append the beginnings of sessions. One that is there already is passed over.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// ids: events.id Event
// params:
//   $tenant  string  whose
//   $events  list    maps: the event's own fields
// columns:
//   - written  integer  events appended

UNWIND $events AS event
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
FILTER there IS NULL
// include: fragments/append_event.cypher
RETURN count(e) AS written
