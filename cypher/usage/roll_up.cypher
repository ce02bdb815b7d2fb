// Remove the searches of sessions and the accesses to artifacts, and append one ROLL_UP event per session with their counts.
// Other accesses are kept, and so is the last time at which the session returned a belief: its retrieval strength depends on
// them. Only this query and usage/roll_up_sessionless remove events, after the ratings are checkpointed.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// params:
//   $events  list  maps: within, the id of the SESSION_START event, and the event properties
// columns:
//   - written  integer  number of events appended

UNWIND $events AS event
MATCH (start:Event {tenant: $tenant, id: event.within})
CALL (start) {
  MATCH (start)<-[:WITHIN]-(s:Event {tenant: $tenant, type: 'SEARCH'})-[:RETURNED]->(b:Belief {tenant: $tenant})
  WITH b, max(s.occurred_at) AS at
  RETURN collect({belief: b, at: at}) AS returned
}
CALL (start) {
  MATCH (start)<-[:WITHIN]-(s:Event {type: 'SEARCH'})
  DETACH DELETE s
}
CALL (start) {
  MATCH (start)<-[:WITHIN]-(a:Event {tenant: $tenant, type: 'ACCESS'})-[:ACCESSED]->(:Artifact {tenant: $tenant})
  DETACH DELETE a
}
// include: fragments/append_roll_up.cypher
CREATE (e)-[:WITHIN]->(start)
CALL (e, returned) {
  UNWIND returned AS one
  LET b = one.belief
  CREATE (e)-[:RETRIEVED {occurred_at: one.at}]->(b)
}
RETURN count(e) AS written
