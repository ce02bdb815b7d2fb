// Append GRADUATE events to episodes; one that is there already is passed over.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// ids: events.id Event, events.about Episode
// params:
//   $tenant  string  whose
//   $events  list    maps: about (the episode's id) and the event's own fields
// columns:
//   - written  integer  events appended

UNWIND $events AS event
MATCH (p:Episode {tenant: $tenant, id: event.about})
// Written before anything is looked for, so that of two writers one waits for the other.
SET p.locked_at = datetime.realtime('Z')
WITH p, event
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
FILTER there IS NULL
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(p)
RETURN count(e) AS written
