// Append a RETRACT event for another event, which may arrive later.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// writes_ids: event.id Event
// refers_to: event.target_id Event
// params:
//   $event  map  event properties, including target_id
// columns:

WITH $event AS event
// include: fragments/append_event.cypher
WITH e, event
// include: fragments/link_earlier_retractions.cypher
OPTIONAL MATCH (target:Event {tenant: $tenant, id: event.target_id})
WHERE target.scope = e.scope
FOREACH (x IN CASE WHEN target IS NULL THEN [] ELSE [target] END | CREATE (e)-[:RETRACTS]->(x))
WITH e
// A checkpoint that was computed with a retracted event is invalid.
CALL (e) {
  MATCH (e)-[:RETRACTS*1..]->(x:Event)-[:SUPPORTS|REFUTES]->(b:Belief)
  WITH DISTINCT b.slot_id AS slot_id
  // MERGE waits for a checkpoint that is being created.
  MERGE (c:Checkpoint {tenant: $tenant, slot_id: slot_id})
  DELETE c
}
WITH e
// A predicate falls back to the declaration before a retracted one.
CALL (e) {
  MATCH (e)-[:RETRACTS*1..]->(:Event {tenant: $tenant})-[:CONCERNS]->(p:Predicate {tenant: $tenant})
  WITH DISTINCT p
  // include: fragments/cache_policy.cypher
}
