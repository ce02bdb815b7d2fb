// Which beliefs are in force, and by what the others were beaten. Needs `asked`, a list of beliefs, and what reading a slot takes;
// leaves `judged`, a list of maps: b, policy (of its predicate), status, head_ids (of what superseded it), lost (it was superseded, or
// another value leads its ONE slot and the two are not too close to call) and, of a value of a ONE slot: value (a map of belief,
// last_at, ambiguous), contenders (such maps: who leads, and who is too close to it) and others (what else the slot held).
// Twins: rules/projection.py one, rules/lineage.py

CALL (asked) {
  UNWIND asked AS claimed
  WITH DISTINCT claimed, coalesce(claimed.predicate_key, '') AS predicate_key, $valid AS valid
  // include: fragments/policy.cypher
  WITH claimed, policy, policy.cardinality = 'ONE' AND claimed.subject_key IS NOT NULL AS competes
  // The values of a slot are ranked once, however many of them are asked for.
  WITH CASE WHEN competes THEN claimed.slot_id ELSE claimed.id END AS key, competes, head(collect(policy)) AS policy,
       collect(claimed) AS wanted, $valid AS valid
  CALL (competes, policy, wanted, valid) {
    UNWIND CASE WHEN competes THEN [wanted[0]] ELSE [] END AS one
    MATCH (b:Belief {tenant: $tenant, scope: one.scope, subject_key: one.subject_key, predicate_key: one.predicate_key})
    MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
    // include: fragments/counted.cypher
    // include: fragments/weighs.cypher
    // include: fragments/among_others.cypher
    // include: fragments/project_one.cypher
    RETURN [place IN range(0, size(ranked) - 1) | {
      b: ranked[place].b, last_at: ranked[place].last_at, belief: ranked[place].belief, ambiguous: close AND place < 2
    }] AS values
  }
  WITH policy, wanted, values, [m IN wanted WHERE NOT m IN [v IN values | v.b] | {b: m}] AS unranked
  CALL (values, unranked) {
    UNWIND range(0, size(values + unranked) - 1) AS place
    WITH place, (values + unranked)[place] AS v
    CALL (v) {
      WITH v.b AS m
      // include: fragments/may_be_hidden.cypher
      // include: fragments/lineage_as_of.cypher
      RETURN collect({status: status, head_ids: head_ids})[0] AS standing
    }
    WITH v {.*, status: coalesce(standing.status, 'current'), head_ids: coalesce(standing.head_ids, [])} AS v
    ORDER BY place
    RETURN collect(v) AS stood
  }
  WITH policy, wanted, stood, [v IN stood WHERE v.last_at IS NOT NULL AND v.status = 'current'] AS fit
  WITH policy, wanted, stood, [v IN fit WHERE v.b = fit[0].b OR (v.ambiguous AND fit[0].ambiguous)] AS contenders
  UNWIND stood AS v
  FILTER v.b IN wanted
  RETURN collect({
    b: v.b, policy: policy, status: v.status, head_ids: v.head_ids, value: v,
    lost: v.status <> 'current' OR coalesce(size(contenders) > 0 AND NOT v.b IN [c IN contenders | c.b], false),
    contenders: contenders,
    others: [c IN stood WHERE c.b <> v.b AND c.last_at IS NOT NULL]
  }) AS judged
}
