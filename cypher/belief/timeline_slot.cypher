// Return a time series of the candidates of a slot. At each time they are ranked best first, by the policy in force then.
// Uses the first of the given scopes that contains the slot.
// mode: read
// rows: many
// source: ESPER, MANY and ONE; twin oracles/projection.py
// plan: NodeIndexSeek
// params:
//   $scopes          list      scopes to search, in order
//   $subject         string    folded: trimmed, NFC, lower case
//   $predicate       string    folded
//   $valid           datetime  last time, unless times are given
//   $known           datetime  upper bound of known time; null: no bound
//   $instants        list      times to read at, in order; null: the times of its evidence, and $valid
//   $points          integer   maximum number of times, 3 or more
//   $policy          map       policy override; null: the declared policy
//   $default_policy  map       policy of undeclared predicates
//   $weights         map       reliability of each source type, in (0, 1]
//   $limit           integer   maximum number of candidates per time, best first
// columns:
//   - at      datetime  time of the read
//   - values  list      maps, best first: belief_id, statement, object, belief
//   - names   map       subject and predicate, as first written
//   - now     datetime  server clock

WITH $subject AS subject_key, $predicate AS predicate_key, [] AS mine
CALL (subject_key) {
  UNWIND range(0, size($scopes) - 1) AS i
  LET scope = $scopes[i]
  // include: fragments/subject_names.cypher
  MATCH (b:Belief)
  USING INDEX b:Belief(tenant, scope, subject_key, predicate_key)
  WHERE b.tenant = $tenant AND b.scope = $scopes[i] AND b.subject_key IN names AND b.predicate_key = $predicate
    AND b.created_at <= $valid AND ($known IS NULL OR b.recorded_at <= $known)
  RETURN scope, names, b {.subject, .predicate} AS shown_as
  ORDER BY i, coll.indexOf(names, b.subject_key), b.created_at, b.id
  LIMIT 1
}
CALL (scope, names, predicate_key, mine) {
  LET valid = $valid
  // include: fragments/slot.cypher
  RETURN members
}
CALL (members) {
  // include: fragments/slot_evidence.cypher
  FILTER e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  WITH DISTINCT e.occurred_at AS at
  ORDER BY at
  RETURN collect(at) AS times
}
// include: fragments/sample_instants.cypher
UNWIND instants AS valid
// include: fragments/policy.cypher
CALL (members, valid, policy) {
  FILTER policy.cardinality = 'ONE'
  // include: fragments/slot_evidence.cypher
  // include: fragments/not_rejected.cypher
  // include: fragments/not_retracted.cypher
  // include: fragments/overwrite_strength.cypher
  // include: fragments/to_one_row.cypher
  // include: fragments/project_one.cypher
  RETURN [v IN ranked[..$limit] | {belief_id: v.b.id, statement: v.b.statement, object: v.b.object, belief: v.belief}] AS one
}
CALL (members, valid, policy) {
  FILTER policy.cardinality = 'MANY'
  // include: fragments/slot_evidence.cypher
  // include: fragments/not_rejected.cypher
  // include: fragments/not_retracted.cypher
  // include: fragments/noisy_or_term.cypher
  WITH *, false AS covered
  // include: fragments/to_many_row.cypher
  // include: fragments/project_many.cypher
  WITH b, projected
  ORDER BY projected.belief DESC, projected.last_at IS NOT NULL DESC, projected.last_at DESC, b.id DESC
  // Not LIMIT: it would keep the members for each of the rows.
  RETURN collect({belief_id: b.id, statement: b.statement, object: b.object, belief: projected.belief})[..$limit] AS many
}
RETURN valid AS at, one + many AS values, shown_as AS names, datetime.realtime('Z') AS now
ORDER BY at
