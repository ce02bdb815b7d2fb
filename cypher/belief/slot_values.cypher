// Return what is believed of each candidate of one slot, best first. Candidates of a ONE predicate compete; those of a
// MANY predicate coexist. Searches the first of the scopes and reads every event, whereas belief/current searches all of
// them and resumes from checkpoints. The others are those whose rejections hold, too.
// mode: read
// rows: many
// source: ESPER, MANY and ONE; twin oracles/projection.py
// plan: NodeIndexSeek
// params:
//   $subject         string    folded: trimmed, NFC, lower case
//   $predicate       string    folded
//   $valid           datetime  upper bound of valid time
//   $known           datetime  upper bound of known time; null: no bound
//   $policy          map       policy override; null: the declared policy
//   $default_policy  map       policy of undeclared predicates
//   $weights         map       reliability of each source type, in (0, 1]
//   $limit           integer   maximum number of candidates, best first
// columns:
//   - object     string    object of the candidate, as first written
//   - belief     float     in [0, 1)
//   - ambiguous  boolean   whether it is one of two candidates of a ONE slot that are too close to call
//   - score      float     score of a candidate of a ONE slot, without decay; else its belief
//   - status     string    current, superseded or archived; rejected values are left out
//   - events     integer   number of evidence events that count
//   - last_at    datetime  time of the last affirmation; null: never
//   - belief_id  string    belief id
//   - statement  string    statement of the belief

WITH $scopes[0] AS scope, $subject AS subject_key, $predicate AS predicate_key, $valid AS valid, [] AS mine
// include: fragments/subject_names.cypher
// include: fragments/policy.cypher
// include: fragments/slot.cypher
CALL (members, valid, policy) {
  FILTER policy.cardinality = 'ONE'
  // include: fragments/slot_evidence.cypher
  // include: fragments/not_rejected.cypher
  // include: fragments/not_retracted.cypher
  // include: fragments/overwrite_strength.cypher
  // include: fragments/to_one_row.cypher
  // include: fragments/project_one.cypher
  // include: fragments/top_one.cypher
  RETURN one
}
CALL (members, valid, policy) {
  FILTER policy.cardinality = 'MANY'
  // include: fragments/slot_evidence.cypher
  // include: fragments/not_rejected.cypher
  // include: fragments/not_retracted.cypher
  WITH b, e, false AS covered
  // include: fragments/noisy_or_term.cypher
  // include: fragments/to_many_row.cypher
  // include: fragments/project_many.cypher
  // include: fragments/top_many.cypher
  RETURN many
}
CALL (one, many) {
  LET found = one + many
  UNWIND range(0, size(found) - 1) AS place
  LET m = found[place][0], projected = found[place][1]
  WITH m, projected {.*, place: place} AS candidate
  // include: fragments/candidate_status.cypher
  // include: fragments/candidate.cypher
  RETURN candidate
}
RETURN candidate.object AS object, candidate.belief AS belief, candidate.ambiguous AS ambiguous, candidate.score AS score,
       candidate.status AS status, candidate.events AS events, candidate.last_at AS last_at, candidate.belief_id AS belief_id,
       candidate.statement AS statement
ORDER BY candidate.place
