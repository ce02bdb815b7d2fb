// What a slot holds: its values with what is believed of each, best first, read as the predicate's policy has it. Of the
// scopes given, the first that knows the slot.
// mode: read
// rows: one
// source: ESPER, MANY and ONE; twin oracles/projection.py
// plan: NodeIndexSeek DirectedRelationshipIndexSeek
// params:
//   $tenant          string    tenant name
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
//   - names        list     by which the subject is known, folded, that asked for first
//   - policy       map      by which it was read
//   - candidates   list     maps, best first: belief_id, subject, object, statement, status, belief, score, last_at, events, ambiguous; MANY: P+ and P- too
//   - total        integer  how many candidates there are
//   - now          datetime  the server's clock

WITH $subject AS subject_key, $predicate AS predicate_key, $valid AS valid
// include: fragments/names.cypher
// include: fragments/slot_place.cypher
// include: fragments/policy.cypher
// include: fragments/newer.cypher
CALL (scope, slot_id, names, predicate_key, valid, policy, checkpoint, tail) {
  // include: fragments/pieces.cypher
  // include: fragments/counted.cypher
  RETURN collect([b, e, covered]) AS told
}
CALL (valid, policy, checkpoint, told) {
  FILTER policy.cardinality = 'ONE'
  CALL (checkpoint, told) {
    UNWIND told AS x
    WITH x[0] AS b, x[1] AS e
    // include: fragments/weighs.cypher
    // include: fragments/among_others.cypher
    RETURN said
  UNION ALL
    // include: fragments/resumed_one.cypher
    RETURN said
  }
  // include: fragments/project_one.cypher
  // include: fragments/best_one.cypher
  RETURN n_one, one
}
CALL (valid, policy, checkpoint, told) {
  FILTER policy.cardinality = 'MANY'
  CALL (valid, policy, checkpoint, told) {
    UNWIND told AS x
    WITH x[0] AS b, x[1] AS e, x[2] AS covered
    // include: fragments/says.cypher
    // include: fragments/beside_others.cypher
    RETURN said
  UNION ALL
    // include: fragments/resumed_many.cypher
    RETURN said
  }
  // include: fragments/project_many.cypher
  // include: fragments/best_many.cypher
  RETURN n_many, many
}
CALL (one, many) {
  UNWIND one + many AS x
  WITH x[0] AS m, x[1] AS candidate
  CALL (m) {
    // include: fragments/may_be_hidden.cypher
    WITH m AS node
    // include: fragments/standing_as_of.cypher
    RETURN collect(status)[0] AS status
  }
  // include: fragments/candidate.cypher
  RETURN collect(candidate) AS candidates
}
RETURN scope, names, policy, candidates, coalesce(n_one, n_many, 0) AS total, datetime.realtime('Z') AS now
