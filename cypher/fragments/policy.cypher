// Select the policy for the evidence of a predicate at (`valid`, $known). Needs `valid` and `predicate_key`; leaves
// `policy`, a map: $policy if given; else the newest visible POLICY event by (occurred_at, id), with these two fields;
// else $default_policy.
// needs: valid, predicate_key
// leaves: policy

CALL (valid, predicate_key) {
  OPTIONAL MATCH (:Predicate {tenant: $tenant, key: predicate_key})<-[:CONCERNS]-(x:Event)
  WHERE $present_policy OR (x.occurred_at <= valid AND ($known IS NULL OR x.recorded_at <= $known))
  WITH x
  ORDER BY x.occurred_at DESC, x.id DESC
  LIMIT 1
  RETURN coalesce(
    $policy,
    x {.cardinality, .kappa, .tau_days, .decay_per_day, .margin, .combine, .id, .occurred_at},
    $default_policy
  ) AS policy
}
