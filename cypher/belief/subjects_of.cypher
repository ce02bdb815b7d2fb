// List the subjects of beliefs with a predicate at ($valid, $known), as first written, each once.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $predicate  string    normalised name of the predicate
//   $valid      datetime  upper bound of valid time
//   $known      datetime  upper bound of known time; null: no bound
//   $limit      integer   maximum number of beliefs read of each scope
// columns:
//   - name  string  subject

UNWIND $scopes AS scope
CALL (scope) {
  MATCH (m:Belief)
  WHERE m.tenant = $tenant AND m.scope = scope AND m.subject_key > '' AND m.predicate_key = $predicate
    AND m.created_at <= $valid AND ($known IS NULL OR m.recorded_at <= $known)
  RETURN m
  LIMIT $limit
}
WITH m
// include: fragments/belief_created_as_of.cypher
WITH m, created_at
ORDER BY created_at, m.id
WITH m.subject_key AS key, collect(m.subject)[0] AS name
RETURN name
ORDER BY key
