// What a slot holds: its values with what is believed of each, best first, read as the predicate's policy has it. Of the
// scopes given, the first that knows the slot.
// mode: read
// rows: one
// source: ESPER, MANY and ONE; twin rules/projection.py
// plan: NodeIndexSeek
// params:
//   $tenant          string    whose
//   $scopes          list      scopes to look in, in order
//   $subject         string    folded: trimmed, NFC, lower case
//   $predicate       string    folded
//   $valid           datetime  instant in the world that is asked about
//   $known           datetime  what was recorded later is not seen; null: everything
//   $policy          map       cardinality, kappa, tau_days, decay_per_day, margin, combine to read by; null: as declared
//   $present_policy  boolean   read by the policy declared by now, and not by that of $valid and $known
//   $default_policy  map       of a predicate that nobody declared
//   $weights         map       reliability of each source type, in (0, 1]
//   $weights_key     string    of the weights, for which a checkpoint holds; null: read every event
//   $limit           integer   candidates to return, the best
// columns:
//   - scope        string   where the slot is, or null
//   - policy       map      by which it was read
//   - candidates   list     maps, best first: belief_id, subject, object, statement, status, belief, score, last_at, events, ambiguous; MANY: P+ and P- too
//   - total        integer  how many candidates there are
//   - now          datetime  the server's clock

CALL () {
  UNWIND range(0, size($scopes) - 1) AS i
  MATCH (b:Belief)
  WHERE b.tenant = $tenant AND b.scope = $scopes[i] AND b.subject_key = $subject AND b.predicate_key = $predicate
    AND b.created_at <= $valid AND ($known IS NULL OR b.recorded_at <= $known)
  WITH i, b.slot_id AS slot_id
  ORDER BY i
  LIMIT 1
  RETURN collect([$scopes[i], slot_id])[0] AS place
}
WITH place[0] AS scope, place[1] AS slot_id, $valid AS valid, $predicate AS predicate_key
// include: fragments/policy.cypher
// include: fragments/newer.cypher
CALL (scope, slot_id, valid, policy, checkpoint, tail) {
  FILTER policy.cardinality = 'ONE'
  CALL (scope, slot_id, valid, policy, checkpoint, tail) {
    // include: fragments/pieces.cypher
    // include: fragments/counted.cypher
    // include: fragments/weighs.cypher
    // include: fragments/among_others.cypher
    RETURN said
  UNION ALL
    // include: fragments/resumed_one.cypher
    RETURN said
  }
  // include: fragments/project_one.cypher
  UNWIND range(0, size(ranked) - 1) AS i
  WITH size(ranked) AS total, i, ranked[i].b AS b, ranked[i] AS projected, close AND i < 2 AS ambiguous
  ORDER BY i
  LIMIT $limit
  RETURN max(total) AS n_one, collect(projected {.score, .belief, .last_at, .last_id, .events, ambiguous: ambiguous,
    belief_id: b.id, subject: b.subject, object: b.object, statement: b.statement, status: b.status}) AS one
}
CALL (scope, slot_id, valid, policy, checkpoint, tail) {
  FILTER policy.cardinality = 'MANY'
  CALL (scope, slot_id, valid, policy, checkpoint, tail) {
    // include: fragments/pieces.cypher
    // include: fragments/counted.cypher
    // include: fragments/says.cypher
    // include: fragments/beside_others.cypher
    RETURN said
  UNION ALL
    // include: fragments/resumed_many.cypher
    RETURN said
  }
  // include: fragments/project_many.cypher
  WITH b, projected
  ORDER BY projected.belief DESC, projected.last_at IS NOT NULL DESC, projected.last_at DESC, b.id DESC
  WITH collect({b: b, projected: projected}) AS found
  UNWIND found[..$limit] AS x
  WITH size(found) AS total, x.b AS b, x.projected AS projected
  RETURN max(total) AS n_many, collect(projected {
    .belief, .positive, .negative, .log_positive, .log_negative, .supporting_episodes, .refuting_episodes, .contested,
    .last_at, .events, score: projected.belief, ambiguous: false, belief_id: b.id, subject: b.subject, object: b.object, statement: b.statement, status: b.status}) AS many
}
RETURN scope, policy, one + many AS candidates, coalesce(n_one, n_many, 0) AS total, datetime.realtime('Z') AS now
