// List the predicates with a declared policy, by name.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// columns:
//   - policy  map  name, template, event_id, and the fields of the policy

MATCH (p:Predicate)
WHERE p.tenant = $tenant AND p.key IS NOT NULL
RETURN p {
  .name, .template, .event_id, .occurred_at, .recorded_at,
  .cardinality, .kappa, .tau_days, .decay_per_day, .margin, .combine, .valid_from
} AS policy
ORDER BY p.key
