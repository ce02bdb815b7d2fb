// How the values of a slot moved: at each of several instants all of them, best first, read by the policy in force then. Of the
// scopes given, the first that knows the slot.
// mode: read
// rows: many
// source: ESPER, MANY and ONE; twin oracles/projection.py
// plan: NodeIndexSeek
// params:
//   $tenant          string    tenant name
//   $scopes          list      scopes to look in, in order
//   $subject         string    folded: trimmed, NFC, lower case
//   $predicate       string    folded
//   $valid           datetime  the last instant, unless others are given
//   $known           datetime  what was recorded later is not seen; null: everything
//   $instants        list      to read at, in order; null: when evidence was seen, and $valid
//   $points          integer   at how many at most, 3 or more
//   $policy          map       to read by; null: as declared
//   $present_policy  boolean   read by the policy declared by now, and not by that of each instant
//   $default_policy  map       of a predicate that nobody declared
//   $weights         map       reliability of each source type, in (0, 1]
//   $limit           integer   values to return of each instant, the best
// columns:
//   - at      datetime  the instant
//   - values  list      maps, best first: belief_id, statement, object, belief
//   - names   map       subject and predicate, as first written
//   - now     datetime  the server's clock

WITH $subject AS subject_key, $predicate AS predicate_key, [] AS mine
// include: fragments/names.cypher
CALL (names) {
  UNWIND range(0, size($scopes) - 1) AS i
  MATCH (b:Belief)
  WHERE b.tenant = $tenant AND b.scope = $scopes[i] AND b.subject_key IN names AND b.predicate_key = $predicate
    AND b.created_at <= $valid AND ($known IS NULL OR b.recorded_at <= $known)
  RETURN b.scope AS scope, b {.subject, .predicate} AS shown_as
  ORDER BY i, coll.indexOf(names, b.subject_key), b.created_at, b.id
  LIMIT 1
}
CALL (scope, names, predicate_key, mine) {
  // include: fragments/slot.cypher
  FILTER e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  WITH DISTINCT e.occurred_at AS at
  ORDER BY at
  RETURN collect(at) AS times
}
// include: fragments/thinned.cypher
UNWIND instants AS valid
// include: fragments/policy.cypher
CALL (scope, names, predicate_key, mine, valid, policy) {
  FILTER policy.cardinality = 'ONE'
  // include: fragments/slot.cypher
  // include: fragments/counted.cypher
  // include: fragments/weighs.cypher
  // include: fragments/among_others.cypher
  // include: fragments/project_one.cypher
  RETURN [v IN ranked[..$limit] | {belief_id: v.b.id, statement: v.b.statement, object: v.b.object, belief: v.belief}] AS one
}
CALL (scope, names, predicate_key, mine, valid, policy) {
  FILTER policy.cardinality = 'MANY'
  // include: fragments/slot.cypher
  // include: fragments/counted.cypher
  // include: fragments/says.cypher
  WITH *, false AS covered
  // include: fragments/beside_others.cypher
  // include: fragments/project_many.cypher
  WITH b, projected
  ORDER BY projected.belief DESC, projected.last_at IS NOT NULL DESC, projected.last_at DESC, b.id DESC
  LIMIT $limit
  RETURN collect({belief_id: b.id, statement: b.statement, object: b.object, belief: projected.belief}) AS many
}
RETURN valid AS at, one + many AS values, shown_as AS names, datetime.realtime('Z') AS now
ORDER BY at
