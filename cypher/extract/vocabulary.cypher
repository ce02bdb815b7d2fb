// Return the vocabulary of a tenant. Contains the most used predicates and names of its beliefs, and the declared
// predicates.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $predicates  integer  maximum number of predicates, and of declared predicates
//   $names       integer  maximum number of names
// columns:
//   - predicates  list  maps: name, cardinality or null
//   - names       list  subjects and objects

CALL () {
  UNWIND $scopes AS scope
  MATCH (b:Belief)
  USING INDEX b:Belief(tenant, scope, subject_key, predicate_key)
  WHERE b.tenant = $tenant AND b.scope = scope AND b.subject_key IS NOT NULL AND b.predicate_key IS NOT NULL
  WITH b.predicate_key AS key, min(b.predicate) AS name, count(b) AS uses
  ORDER BY uses DESC, key
  LIMIT $predicates
  OPTIONAL MATCH (p:Predicate {tenant: $tenant, key: key})
  RETURN collect({name: coalesce(p.name, name), cardinality: p.cardinality}) AS used
}
CALL (used) {
  MATCH (p:Predicate)
  WHERE p.tenant = $tenant AND p.key IS NOT NULL
  WITH p
  ORDER BY p.key
  LIMIT $predicates
  RETURN collect({name: p.name, cardinality: p.cardinality}) AS declared
}
CALL (used) {
  UNWIND $scopes AS scope
  MATCH (b:Belief)
  USING INDEX b:Belief(tenant, scope, subject_key, predicate_key)
  WHERE b.tenant = $tenant AND b.scope = scope AND b.subject_key IS NOT NULL AND b.predicate_key IS NOT NULL
  UNWIND [b.subject, b.object] AS name
  WITH name, count(*) AS uses
  ORDER BY uses DESC, name
  LIMIT $names
  RETURN collect(name) AS names
}
RETURN used + [one IN declared WHERE NOT one IN used] AS predicates, names
