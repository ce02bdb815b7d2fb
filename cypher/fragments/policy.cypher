// Select the policy for the evidence of a predicate at (`valid`, $known). This is $policy if given; else the newest
// known POLICY event by (occurred_at, id), with these two fields, that holds for every valid time or from a time up to
// `valid`; else $default_policy, with `built_in`, whether the predicate is among its single-valued ones.
// needs: valid, predicate_key
// leaves: policy (a map)

CALL (valid, predicate_key) {
  OPTIONAL MATCH (:Predicate {tenant: $tenant, key: predicate_key})<-[:CONCERNS]-(x:Event)
  WHERE ($known IS NULL OR x.recorded_at <= $known) AND (x.valid_from IS NULL OR x.valid_from <= valid)
  WITH x, $default_policy AS other, predicate_key IN $default_policy.single_valued AS built_in
  ORDER BY x.occurred_at DESC, x.id DESC
  LIMIT 1
  RETURN coalesce(
    $policy,
    x {.cardinality, .kappa, .tau_days, .decay_per_day, .margin, .combine, .id, .occurred_at},
    other {
      .kappa, .tau_days, .decay_per_day, .margin, .combine, built_in: built_in,
      cardinality: CASE WHEN built_in THEN 'ONE' ELSE other.cardinality END
    }
  ) AS policy
}
