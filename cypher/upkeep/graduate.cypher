// Append GRADUATE events to episodes. Events that already exist are skipped.
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
// Writing before reading takes the write lock, so concurrent writers are serialised.
SET p.locked_at = datetime.realtime('Z')
WITH p, event
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
FILTER there IS NULL
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(p)
RETURN count(e) AS written
