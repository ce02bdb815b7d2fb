// Return the candidates of a slot with their belief, best first, by the policy of the predicate. Uses the first of the
// given scopes that contains the slot.
// mode: read
// rows: one
// source: ESPER, MANY and ONE; twin oracles/projection.py
// plan: NodeIndexSeek DirectedRelationshipIndexSeek
// params:
//   $scopes          list      scopes to search, in order
//   $subject         string    folded: trimmed, NFC, lower case
//   $predicate       string    folded
//   $valid           datetime  upper bound of valid time
//   $known           datetime  upper bound of known time; null: no bound
//   $policy          map       policy override: cardinality, kappa, tau_days, decay_per_day, margin, combine; null: the declared policy
//   $default_policy  map       policy of undeclared predicates
//   $weights         map       reliability of each source type, in (0, 1]
//   $weights_key     string    key of the weights for which a checkpoint is valid; null: read every event
//   $limit           integer   maximum number of candidates, best first
// columns:
//   - scope       string    scope of the slot, or null
//   - names       list      names of the subject, folded, the requested one first
//   - policy      map       policy that was applied
//   - candidates  list      maps, best first: belief_id, subject, object, statement, status, belief, score, last_at, events, ambiguous, trust (its rank, see rules/trust.py); MANY: also P+ and P-
//   - total       integer   total number of candidates
//   - now         datetime  server clock

WITH $subject AS subject_key, $predicate AS predicate_key, $valid AS valid
CALL (subject_key) {
  // Behind the last scope is none: the place of a slot that is nowhere.
  UNWIND range(0, size($scopes)) AS i
  LET scope = $scopes[i]
  // include: fragments/subject_names.cypher
  OPTIONAL MATCH (b:Belief)
  WHERE b.tenant = $tenant AND b.scope = scope AND b.subject_key IN names AND b.predicate_key = $predicate
    AND (b.rulings IS NULL OR EXISTS { (b)<-[:SUPPORTS|REFUTES]-(:Event {tenant: $tenant}) })
    AND b.created_at <= $valid AND ($known IS NULL OR b.recorded_at <= $known AND EXISTS {
      MATCH (b)<-[:SUPPORTS|REFUTES|CONCERNS]-(x:Event {tenant: $tenant})
      WHERE x.scope = b.scope AND x.occurred_at <= $valid AND x.recorded_at <= $known
    })
  FILTER b IS NOT NULL OR i = size($scopes)
  RETURN scope, names, CASE size(names) WHEN 1 THEN b.slot_id END AS slot_id
  ORDER BY i
  LIMIT 1
}
// include: fragments/policy.cypher
// include: fragments/resume_slot.cypher
CALL (slot_id, valid, policy, checkpoint, tail, members) {
  // include: fragments/slot_events.cypher
  // include: fragments/not_retracted.cypher
  RETURN collect({b: b, e: e, covered: covered}) AS pieces
}
CALL (valid, policy, checkpoint, pieces) {
  FILTER policy.cardinality = 'ONE'
  CALL (checkpoint, pieces) {
    UNWIND pieces AS x
    LET b = x.b, e = x.e
    // include: fragments/overwrite_strength.cypher
    // include: fragments/to_one_row.cypher
    RETURN b, polarity, at, id, s, force, events
  UNION ALL
    // include: fragments/checkpoint_one.cypher
    RETURN b, polarity, at, id, s, force, events
  }
  // include: fragments/project_one.cypher
  // include: fragments/top_one.cypher
  RETURN n_one, one
}
CALL (valid, policy, checkpoint, pieces) {
  FILTER policy.cardinality = 'MANY'
  CALL (valid, policy, checkpoint, pieces) {
    UNWIND pieces AS x
    LET b = x.b, e = x.e, covered = x.covered
    // include: fragments/noisy_or_term.cypher
    // include: fragments/to_many_row.cypher
    RETURN b, polarity, episode, alone, at, l, events, episodes, covered
  UNION ALL
    // include: fragments/checkpoint_many.cypher
    RETURN b, polarity, episode, alone, at, l, events, episodes, covered
  }
  // include: fragments/project_many.cypher
  // include: fragments/top_many.cypher
  RETURN n_many, many
}
// include: fragments/slot_candidates.cypher
RETURN scope, names, policy, candidates, coalesce(n_one, n_many, 0) AS total, datetime.realtime('Z') AS now
