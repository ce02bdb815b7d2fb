// Append a PROPOSE_UPDATE event: that a memory should supersede another one. An event that already exists is kept.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: event.id Event
// refers_to: newer_id Memory, older_id Memory
// params:
//   $event     map     event properties
//   $newer_id  string  id of the memory that may supersede
//   $older_id  string  id of the memory that may be superseded
// columns:
//   - written  integer  number of events appended

OPTIONAL MATCH (there:Event {tenant: $tenant, id: $event.id})
FILTER there IS NULL
MATCH (older:Memory {tenant: $tenant, id: $older_id})
WITH older, $event AS event
MATCH (newer:Memory {tenant: $tenant, id: $newer_id})
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(older)
CREATE (e)-[:CONCERNS]->(newer)
RETURN count(e) AS written
