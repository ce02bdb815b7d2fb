// List the predicates with a declared policy in the scopes that the reader reads, by name and scope.
// mode: read
// rows: many
// plan: NodeIndexSeek
// columns:
//   - policy  map  name, scope, template, event_id, and the fields of the policy

MATCH (p:Predicate)
WHERE p.tenant = $tenant AND p.key IS NOT NULL AND p.event_id IS NOT NULL AND p.scope IN $scopes
RETURN p {
  .name, .scope, .template, .event_id, .occurred_at, .recorded_at,
  .cardinality, .kappa, .tau_days, .decay_per_day, .margin, .combine, .valid_from
} AS policy
ORDER BY p.key, p.scope = $scope DESC, p.scope
