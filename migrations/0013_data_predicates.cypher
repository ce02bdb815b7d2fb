// Normalised keys of predicates: "lives in", "lives-in" and "lives_in" are one. The rows come from rules/claims.py,
// because Cypher has no digest. A belief keeps its id; one that a later statement repeats has the same slot and value.
// mode: write
// params:
//   $respelt_beliefs     list  maps: tenant, id, predicate_key, slot_id, former_slot_id
//   $respelt_predicates  list  maps: tenant, key, former_key

UNWIND $respelt_beliefs AS row
MATCH (b:Belief {tenant: row.tenant, id: row.id})
SET b.predicate_key = row.predicate_key, b.slot_id = row.slot_id, b.respelt = true
WITH row, b
OPTIONAL MATCH (b)<-[r:SUPPORTS|REFUTES]-(:Event {tenant: row.tenant})
SET r.slot_id = row.slot_id
WITH DISTINCT row
MATCH (c:Checkpoint {tenant: row.tenant})
WHERE c.slot_id IN [row.slot_id, row.former_slot_id]
DETACH DELETE c;

UNWIND $respelt_predicates AS row
MATCH (former:Predicate {tenant: row.tenant, key: row.former_key})
MERGE (p:Predicate {tenant: row.tenant, key: row.key})
ON CREATE SET p.scope = former.scope, p.name = former.name, p.template = former.template
WITH row, former, p
CALL (row, former, p) {
  MATCH (former)<-[r:CONCERNS]-(e:Event {tenant: row.tenant})
  CREATE (e)-[:CONCERNS]->(p)
  DELETE r
}
WITH DISTINCT row, former, p
CALL (row, p) {
  MATCH (p)<-[:CONCERNS]-(x:Event {tenant: row.tenant})
  RETURN x
  ORDER BY x.occurred_at DESC, x.id DESC
  LIMIT 1
}
SET p.name = CASE x.id WHEN former.event_id THEN former.name ELSE p.name END,
    p.template = CASE x.id WHEN former.event_id THEN former.template ELSE p.template END,
    p.event_id = x.id,
    p.occurred_at = x.occurred_at,
    p.recorded_at = x.recorded_at,
    p.cardinality = x.cardinality,
    p.kappa = x.kappa,
    p.tau_days = x.tau_days,
    p.decay_per_day = x.decay_per_day,
    p.margin = x.margin,
    p.combine = x.combine
DETACH DELETE former;
