// Append a POLICY event to a predicate of its scope and update the cached policy. The policy is that of the newest event of a
// person (rank 4) or, without one, of the newest event, by (occurred_at, id).
// mode: write
// rows: none
// plan: MergeUniqueNode
// writes_ids: event.id Event
// params:
//   $id        string  id of the predicate in the scope of the event
//   $key       string  predicate key
//   $name      string  name, as written
//   $template  string  sentence template of its triples, or null
//   $event     map     event properties, including the policy
// columns:

MERGE (p:Predicate {tenant: $tenant, id: $id})
ON CREATE SET p.key = $key, p.scope = $event.scope
WITH p, $event AS event
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(p)
WITH p
CALL (p) {
  MATCH (p)<-[:CONCERNS]-(x:Event)
  RETURN x
  ORDER BY x.trust = 4 DESC, x.occurred_at DESC, x.id DESC
  LIMIT 1
}
SET p.event_id = x.id,
    p.trust = x.trust,
    p.occurred_at = x.occurred_at,
    p.recorded_at = x.recorded_at,
    p.cardinality = x.cardinality,
    p.kappa = x.kappa,
    p.tau_days = x.tau_days,
    p.decay_per_day = x.decay_per_day,
    p.margin = x.margin,
    p.combine = x.combine,
    p.valid_from = x.valid_from,
    p.name = CASE x.id WHEN $event.id THEN $name ELSE p.name END,
    p.template = CASE x.id WHEN $event.id THEN $template ELSE p.template END
