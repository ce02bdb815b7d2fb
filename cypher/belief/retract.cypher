// Append a RETRACT event that cancels another event, now or when that comes.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// ids: event.id Event, event.target_id Event
// params:
//   $tenant  string  tenant name
//   $event   map     the event's own fields, target_id among them
// columns:

WITH $event AS event
// include: fragments/append_event.cypher
WITH e, event
// include: fragments/meet_retraction.cypher
OPTIONAL MATCH (target:Event {tenant: $tenant, id: event.target_id})
WHERE target.scope = e.scope
FOREACH (x IN CASE WHEN target IS NULL THEN [] ELSE [target] END | CREATE (e)-[:RETRACTS]->(x))
WITH e
// A state that was computed with what is cancelled now is worth nothing.
CALL (e) {
  MATCH (e)-[:RETRACTS*1..]->(x:Event)-[:SUPPORTS|REFUTES]->(b:Belief)
  WITH DISTINCT b.slot_id AS slot_id
  // MERGE, to wait for one that is being made.
  MERGE (c:Checkpoint {tenant: $tenant, slot_id: slot_id})
  DELETE c
}
