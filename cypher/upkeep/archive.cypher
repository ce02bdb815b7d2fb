// Append ARCHIVE, PIN or UNPIN events to episodes. ARCHIVE hides their turns from recall; PIN protects from pruning.
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
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(p)
RETURN count(e) AS written
