// Append a REJECT or UNREJECT event, keep it in the tombstones of what it is about, and update every memory and belief
// that states one of these. Those that the writer sees are linked to it.
// mode: write
// rows: one
// plan: MergeUniqueNode
// writes_ids: event.id Event
// params:
//   $tombstones  list  maps: id, see rules/rejections.py; digest and value_key, of a value
//   $value_keys  list  keys of what the ruled item states
//   $event       map   event properties; value_digests are those of $tombstones
// columns:
//   - memory_ids  list     memories of the read scopes that state one of the values
//   - belief_ids  list     beliefs of the read scopes that state one of the values
//   - rejected    boolean  whether the item is rejected now, for the writer

WITH $event AS event
// include: fragments/append_event.cypher
WITH e
CALL (e) {
  UNWIND $tombstones AS row
  MERGE (r:Rejection {tenant: $tenant, id: row.id})
  ON CREATE SET r.scope = e.scope, r.digest = row.digest, r.value_key = row.value_key, r.recorded_at = e.recorded_at
  CREATE (e)-[:CONCERNS]->(r)
  WITH r, [{id: e.id, at: e.occurred_at, known_at: e.recorded_at, rejects: e.type = 'REJECT', path: ''}] AS given
  // include: fragments/merge_rulings.cypher
  WITH collect(r.id) AS ruled
  UNWIND ruled AS id
  MATCH (r:Rejection {tenant: $tenant, id: id})
  // include: fragments/stating_value.cypher
  WITH DISTINCT m
  ORDER BY m.id
  FOREACH (x IN CASE WHEN m.scope IN $scopes THEN [m] ELSE [] END | CREATE (e)-[:CONCERNS]->(x))
  // A belief exists at the latest from its first event on, whenever it was first stated.
  SET m.created_at = CASE
        WHEN m:Belief AND m.scope = e.scope AND e.occurred_at < m.created_at THEN e.occurred_at
        ELSE m.created_at
      END,
      m.recorded_at = coalesce(m.recorded_at, e.recorded_at)
  WITH m
  // include: fragments/take_rulings.cypher
  // include: fragments/refresh_status.cypher
  RETURN collect(CASE WHEN m:Memory AND m.scope IN $scopes THEN m.id END) AS memory_ids,
         collect(CASE WHEN m:Belief AND m.scope IN $scopes THEN m.id END) AS belief_ids
}
LET value_keys = $value_keys, until = null, recorded = null
// include: fragments/rejection.cypher
RETURN memory_ids, belief_ids, rejection IS NOT NULL AS rejected
