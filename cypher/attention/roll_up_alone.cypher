// Remove searches outside any session, by their ids, and append ROLL_UP events that say how many they were.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// ids: events.id Event
// params:
//   $tenant  string  whose
//   $events  list    maps: ids, of the searches, and the event's own fields
// columns:
//   - written  integer  events appended

UNWIND $events AS event
CALL (event) {
  UNWIND event.ids AS id
  MATCH (s:Event {tenant: $tenant, id: id})
  DETACH DELETE s
}
// include: fragments/append_event.cypher
RETURN count(e) AS written
