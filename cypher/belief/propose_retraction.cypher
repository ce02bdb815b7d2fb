// Append a PROPOSE_RETRACT event: that evidence, or a retraction, should be taken back. It takes nothing back itself.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// writes_ids: event.id Event
// refers_to: target_id Event
// params:
//   $event      map     event properties
//   $target_id  string  id of the event that may be taken back
// columns:

MATCH (target:Event {tenant: $tenant, id: $target_id})
WITH target, $event AS event
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(target)
