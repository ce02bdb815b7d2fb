// Collect the beliefs of a slot, under every name of its subject. Beliefs that are equal under aliases are represented
// by one: one of `mine`, else one that existed at the times of the read, else the one whose subject name comes first.
// needs: scope, names, predicate_key, valid, mine (a list of beliefs)
// leaves: members (maps: x, a belief, b, the belief that represents it, and ruled, the beliefs of its value about which
// there are rulings)

CALL (scope, names, predicate_key, valid, mine) {
  MATCH (x:Belief)
  WHERE x.tenant = $tenant AND x.scope = scope AND x.subject_key IN names AND x.predicate_key = predicate_key
  // include: fragments/canonical_value.cypher
  WITH x, value
  ORDER BY x IN mine DESC, x.created_at <= valid AND ($known IS NULL OR x.recorded_at <= $known) DESC, coll.indexOf(names, x.subject_key), x.object_key = value DESC, x.id
  WITH value, collect(x) AS same
  UNWIND same AS x
  RETURN collect({x: x, b: same[0], ruled: [y IN same WHERE y.rulings IS NOT NULL]}) AS members
}
