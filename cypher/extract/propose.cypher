// Append PROPOSE events, which quote their turns, for review. Events that already exist are skipped.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event, events.payload.claim.id Belief
// refers_to: events.episode_id Episode, events.turn_id Turn
// params:
//   $events  list  maps: turn_id and the event properties, including episode_id
// columns:
//   - written  integer  number of events appended

UNWIND $events AS event
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
FILTER there IS NULL
// include: fragments/append_event.cypher
CALL (e, event) {
  MATCH (turn:Turn {tenant: $tenant, id: event.turn_id})
  CREATE (e)-[:QUOTES]->(turn)
}
CALL (e, event) {
  MATCH (episode:Episode {tenant: $tenant, id: event.episode_id})
  CREATE (e)-[:OCCURRED_IN]->(episode)
}
RETURN count(e) AS written
