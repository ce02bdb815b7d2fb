// Append a REJECT or UNREJECT event, keep it in the tombstone of its value, and update every memory and belief that
// states the value. Those of other scopes are updated if the event is in the global scope, but are not linked to it.
// mode: write
// rows: one
// plan: MergeUniqueNode
// writes_ids: event.id Event
// params:
//   $id         string  id of the tombstone: see rules/rejections.py
//   $value_key  string  key of the value
//   $event      map     event properties; content_hash is the digest of the value
// columns:
//   - memory_ids  list     memories of the scope that state the value
//   - belief_ids  list     beliefs of the scope that state the value
//   - rejected    boolean  whether the value is rejected now

MERGE (r:Rejection {tenant: $tenant, id: $id})
ON CREATE SET r.scope = $event.scope, r.digest = $event.content_hash, r.value_key = $value_key
WITH r, $event AS event
// include: fragments/append_event.cypher
SET r.recorded_at = coalesce(r.recorded_at, e.recorded_at)
LET given = [{id: e.id, at: e.occurred_at, known_at: e.recorded_at, rejects: e.type = 'REJECT'}]
// include: fragments/merge_rulings.cypher
CALL (r, e) {
  // include: fragments/stating_value.cypher
  FOREACH (x IN CASE WHEN m.scope = e.scope THEN [m] ELSE [] END | CREATE (e)-[:CONCERNS]->(x))
  // A belief exists at the latest from its first event on, whenever it was first stated.
  SET m.created_at = CASE
        WHEN m:Belief AND m.scope = e.scope AND e.occurred_at < m.created_at THEN e.occurred_at
        ELSE m.created_at
      END,
      m.recorded_at = coalesce(m.recorded_at, e.recorded_at)
  WITH m, e
  // include: fragments/take_rulings.cypher
  // include: fragments/refresh_status.cypher
  RETURN collect(CASE WHEN m:Memory AND m.scope = e.scope THEN m.id END) AS memory_ids,
         collect(CASE WHEN m:Belief AND m.scope = e.scope THEN m.id END) AS belief_ids
}
LET value_key = $value_key, ruled_scope = e.scope
// include: fragments/rejection.cypher
RETURN memory_ids, belief_ids, rejection IS NOT NULL AS rejected
