// Remove entries outside sessions, by id, and append ROLL_UP events with their counts. If an import has brought back entries
// that one event counted, they are removed without another.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// params:
//   $tenant  string  tenant name
//   $events  list    maps: ids, the ids of the entries, and the event properties
// columns:
//   - written  integer  number of events appended

UNWIND $events AS event
CALL (event) {
  UNWIND event.ids AS id
  MATCH (s:Event {tenant: $tenant, id: id})
  DETACH DELETE s
}
FILTER NOT EXISTS { MATCH (counted:Event {tenant: $tenant, id: event.id}) WHERE counted.type = 'ROLL_UP' }
// include: fragments/append_event.cypher
RETURN count(e) AS written
