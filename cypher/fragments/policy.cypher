// Select the policy for the evidence of a predicate in a scope at (`valid`, $known). This is $policy if given; else that of
// the nearest known POLICY event that is not retracted and holds for every valid time or from a time up to `valid`; else
// $default_policy, with `built_in`, whether the predicate is among its single-valued ones. Events of persons (rank 4) precede
// others. The nearest is of the reader's own scope, then of the fact's, then global, where the reader reads these; in one
// scope, the newest by (occurred_at, id). Another writer than a person only declares for the facts of its own scope.
// needs: valid, predicate_key, scope (of the fact; null: none)
// leaves: policy (a map)
// twin: oracles/names.py nearest

CALL (valid, predicate_key, scope) {
  OPTIONAL MATCH (declared:Predicate {tenant: $tenant, key: predicate_key})<-[:CONCERNS]-(e:Event)
  WHERE declared.scope IN [$scope, scope, 'global'] AND (declared.scope = $scope OR declared.scope IN $scopes)
    AND e.type = 'POLICY' AND (e.trust = 4 OR declared.scope = scope)
    AND ($known IS NULL OR e.recorded_at <= $known) AND (e.valid_from IS NULL OR e.valid_from <= valid)
    AND
    // include: fragments/unretracted.cypher
  WITH e, declared.scope AS place, $default_policy AS other, predicate_key IN $default_policy.single_valued AS built_in
  ORDER BY e.trust = 4 DESC, place = $scope DESC, place = scope DESC, e.occurred_at DESC, e.id DESC
  LIMIT 1
  RETURN coalesce(
    $policy,
    e {.cardinality, .kappa, .tau_days, .decay_per_day, .margin, .combine, .id, .occurred_at, .scope},
    other {
      .kappa, .tau_days, .decay_per_day, .margin, .combine, built_in: built_in,
      cardinality: CASE WHEN built_in THEN 'ONE' ELSE other.cardinality END
    }
  ) AS policy
}
