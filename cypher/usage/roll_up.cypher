// Remove the searches of sessions and append one ROLL_UP event per session with their count. Accesses are kept. Only
// this query and usage/roll_up_sessionless remove events, after the ratings are checkpointed.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// params:
//   $tenant  string  tenant name
//   $events  list    maps: within, the id of the SESSION_START event, and the event properties
// columns:
//   - written  integer  number of events appended

UNWIND $events AS event
MATCH (start:Event {tenant: $tenant, id: event.within})
CALL (start) {
  MATCH (start)<-[:WITHIN]-(s:Event {type: 'SEARCH'})
  DETACH DELETE s
}
// include: fragments/append_event.cypher
CREATE (e)-[:WITHIN]->(start)
RETURN count(e) AS written
