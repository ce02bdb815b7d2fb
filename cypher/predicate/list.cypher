// Every predicate that a policy was declared for, by name.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
// columns:
//   - policy  map  name, template, event_id, and the policy's fields

MATCH (p:Predicate)
WHERE p.tenant = $tenant AND p.key IS NOT NULL
RETURN p {
  .name, .template, .event_id, .occurred_at, .recorded_at,
  .cardinality, .kappa, .tau_days, .decay_per_day, .margin, .combine
} AS policy
ORDER BY p.key
