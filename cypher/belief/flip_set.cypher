// Compute a smallest set of evidence whose removal changes the status of the sequential test.
// mode: read
// rows: one
// source: Mneva; twin oracles/flips.py
// plan: NodeUniqueIndexSeek
// params:
//   $id          string   belief id
//   $max_events  integer  maximum number of evidence events; for a belief with more, nothing is computed
// columns:
//   - evidence  integer   number of evidence events that count
//   - status    string    status of the test; null: too many evidence events
//   - removed   list      ids in order of (occurred_at, id); null: no set changes the status
//   - becomes   string    status after the removal
//   - now       datetime  server clock

MATCH (m:Belief {tenant: $tenant, id: $id})
WHERE m.scope IN $scopes
// include: fragments/belief_created_as_of.cypher
WITH m AS b, $valid AS valid
CALL (b, valid) {
  MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/not_retracted.cypher
  // include: fragments/sprt_llr.cypher
  WITH heard
  ORDER BY heard.at, heard.id
  RETURN collect(heard {.id, .at, .llr}) AS pieces
}
// The initial confidence does not affect the status.
WITH size(pieces) AS evidence, CASE WHEN size(pieces) <= $max_events THEN pieces ELSE [] END AS pieces, 0.5 AS initial, [] AS shown
CALL (pieces, evidence, initial, shown) {
  UNWIND pieces AS heard
  // include: fragments/sequential.cypher
  RETURN CASE WHEN evidence <= $max_events THEN verdict.status END AS status
}
CALL (pieces, status) {
  UNWIND CASE status WHEN 'promoted' THEN [1] WHEN 'demoted' THEN [-1] WHEN 'accumulating' THEN [1, -1] END AS side
  CALL (pieces, status, side) {
    // include: fragments/flip_set.cypher
    RETURN removed
  }
  WITH side, removed
  WHERE removed IS NOT NULL
  ORDER BY size(removed), side DESC
  RETURN collect(removed)[0] AS flipping
}
CALL (pieces, flipping, initial, shown) {
  UNWIND [x IN pieces WHERE NOT x.id IN flipping] AS heard
  // include: fragments/sequential.cypher
  RETURN CASE WHEN flipping IS NOT NULL THEN verdict.status END AS becomes
}
RETURN evidence, status, CASE WHEN flipping IS NOT NULL THEN [x IN pieces WHERE x.id IN flipping | x.id] END AS removed,
       becomes, datetime.realtime('Z') AS now
