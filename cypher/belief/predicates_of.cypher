// List the predicates of the beliefs about a subject at ($valid, $known), as first written.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $names  list      names of the subject, folded
//   $valid  datetime  upper bound of valid time
//   $known  datetime  upper bound of known time; null: no bound
//   $limit  integer   maximum number of predicates
// columns:
//   - name  string  predicate

UNWIND $scopes AS scope
MATCH (m:Belief)
WHERE m.tenant = $tenant AND m.scope = scope AND m.subject_key IN $names AND m.predicate_key IS NOT NULL
  AND m.created_at <= $valid AND ($known IS NULL OR m.recorded_at <= $known)
WITH m
// include: fragments/belief_created_as_of.cypher
WITH m, created_at
ORDER BY created_at, m.id
WITH m.predicate_key AS key, collect(m.predicate)[0] AS name
RETURN name
ORDER BY key
LIMIT $limit
