// Return the vitality of beliefs that a recall returned. A context needs it; computing it in recall/hits would make every
// recall slower, and its query a quarter longer. Twin: oracles/vitality.py
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $scopes  list  read scopes
//   $ids     list  belief ids
// columns:
//   - id        string  belief id
//   - vitality  map     vitality: see fragments/vitality.cypher

UNWIND $ids AS id
MATCH (m:Belief {tenant: $tenant, id: id})
WHERE m.scope IN $scopes
// include: fragments/belief_created_as_of.cypher
LET b = m, valid = $valid
// include: fragments/prior.cypher
CALL (b, valid) {
  MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event {tenant: $tenant})
  // include: fragments/not_retracted.cypher
  WITH e ORDER BY e.occurred_at, e.id
  RETURN collect(e) AS evidence
}
// include: fragments/vitality.cypher
RETURN id, vitality
