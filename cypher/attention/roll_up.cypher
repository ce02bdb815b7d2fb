// Remove the searches of sessions and append a ROLL_UP event to each, which says how many they were. Looks stay. With
// attention/roll_up_alone the only text that removes events: of the log, after its ratings are checkpointed.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// ids: events.id Event
// params:
//   $tenant  string  whose
//   $events  list    maps: within, the id of the session's beginning, and the event's own fields
// columns:
//   - written  integer  events appended

UNWIND $events AS event
MATCH (start:Event {tenant: $tenant, id: event.within})
CALL (start) {
  MATCH (start)<-[:WITHIN]-(s:Event {type: 'SEARCH'})
  DETACH DELETE s
}
// include: fragments/append_event.cypher
CREATE (e)-[:WITHIN]->(start)
RETURN count(e) AS written
