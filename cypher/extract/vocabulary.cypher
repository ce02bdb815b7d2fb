// Return the vocabulary of a writer. Contains the most used predicates and names of the beliefs that it reads, and the
// declared predicates.
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
  WITH b.predicate_key AS predicate_key, min(b.predicate) AS name, count(b) AS uses
  ORDER BY uses DESC, predicate_key
  LIMIT $predicates
  // include: fragments/declaration.cypher
  RETURN collect({name: coalesce(declared.name, name), cardinality: declared.cardinality}) AS used
}
CALL (used) {
  MATCH (p:Predicate)
  WHERE p.tenant = $tenant AND p.key IS NOT NULL AND p.scope IN [$scope, 'global'] AND p.scope IN $scopes
  WITH DISTINCT p.key AS predicate_key
  ORDER BY predicate_key
  LIMIT $predicates
  // include: fragments/declaration.cypher
  FILTER declared IS NOT NULL
  RETURN collect({name: declared.name, cardinality: declared.cardinality}) AS listed
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
RETURN used + [one IN listed WHERE NOT one IN used] AS predicates, names
