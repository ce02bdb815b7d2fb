// Restore the full texts of compressed episodes. Appends RESTORE events and deletes the archives; an episode that was
// only archived has none.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// refers_to: events.about Episode
// params:
//   $events  list  maps: about (the episode's id) and the event properties
// columns:
//   - written  integer  number of events appended

UNWIND $events AS event
MATCH (p:Episode {tenant: $tenant, id: event.about})
CALL (p) {
  MATCH (p)-[:ARCHIVED_AS]->(a:Archive {tenant: $tenant})
  SET p.content = a.content,
      p.gist = null
  DETACH DELETE a
}
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(p)
RETURN count(e) AS written
