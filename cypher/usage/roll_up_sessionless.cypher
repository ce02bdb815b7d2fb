// Remove entries outside sessions, by id, and append ROLL_UP events with their counts.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// params:
//   $events  list  maps: ids, the ids of the entries, and the event properties
// columns:
//   - written  integer  number of events appended

UNWIND $events AS event
CALL (event) {
  UNWIND event.ids AS id
  MATCH (s:Event {tenant: $tenant, id: id})
  DETACH DELETE s
}
// include: fragments/append_roll_up.cypher
RETURN count(e) AS written
