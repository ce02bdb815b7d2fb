// List slots with their candidates, in the order of scope, subject and predicate. The candidates follow the policy of
// the predicate. Paged.
// mode: read
// rows: many
// source: ESPER, MANY and ONE; twin oracles/projection.py
// plan: NodeIndexSeek
// params:
//   $subject          string   folded; null: all subjects
//   $after_scope      string   scope of the last slot of the previous page; '' for the first page
//   $after_subject    string   folded subject of the last slot of the previous page; '' for the first page
//   $after_predicate  string   folded predicate of the last slot of the previous page; '' for the first page
//   $slots            integer  maximum number of slots per page
//   $limit            integer  maximum number of candidates per slot, best first
//   $ranked           integer  slots of more beliefs have no candidates, and the number of beliefs as total; null: none
// columns:
//   - scope          string    scope of the slot
//   - subject_key    string    folded
//   - subject        string    subject, as first written, of a slot that is not ranked; null otherwise
//   - names          list      names of the subject, folded, the stored one first
//   - predicate_key  string    folded
//   - predicate      string    predicate, as first written; null: no candidates
//   - policy         map       policy that was applied
//   - candidates     list      maps, best first: see belief/current
//   - total          integer   total number of candidates
//   - now            datetime  server clock

// include: fragments/slot_page.cypher
LET valid = $valid, mine = []
// include: fragments/subject_names.cypher
// include: fragments/policy.cypher
LET long = CASE WHEN $ranked IS NULL THEN 0 ELSE COUNT {
  MATCH (x:Belief)
  WHERE x.tenant = $tenant AND x.scope = scope AND x.subject_key IN names AND x.predicate_key = predicate_key
} END
WITH scope, subject_key, predicate_key, policy, valid, mine, long, names AS all,
     CASE WHEN long > coalesce($ranked, 0) THEN [] ELSE names END AS names
// include: fragments/slot.cypher
LET sample = CASE WHEN names = [] THEN COLLECT {
  MATCH (x:Belief)
  WHERE x.tenant = $tenant AND x.scope = scope AND x.subject_key IN all AND x.predicate_key = predicate_key
  RETURN x
  LIMIT 1
}[0] END
CALL (members, valid) {
  // include: fragments/slot_evidence.cypher
  // include: fragments/not_rejected.cypher
  // include: fragments/not_retracted.cypher
  RETURN collect({b: b, e: e}) AS pieces
}
CALL (pieces, valid, policy) {
  FILTER policy.cardinality = 'ONE'
  UNWIND pieces AS x
  LET b = x.b, e = x.e
  // include: fragments/overwrite_strength.cypher
  // include: fragments/to_one_row.cypher
  // include: fragments/project_one.cypher
  // include: fragments/top_one.cypher
  RETURN n_one, one
}
CALL (pieces, valid, policy) {
  FILTER policy.cardinality = 'MANY'
  UNWIND pieces AS x
  LET b = x.b, e = x.e, covered = false
  // include: fragments/noisy_or_term.cypher
  // include: fragments/to_many_row.cypher
  // include: fragments/project_many.cypher
  // include: fragments/top_many.cypher
  RETURN n_many, many
}
// include: fragments/slot_candidates.cypher
RETURN scope, subject_key, sample.subject AS subject, all AS names, predicate_key, coalesce(one[0][0], many[0][0], sample).predicate AS predicate, policy, candidates,
       coalesce(n_one, n_many, CASE WHEN names = [] THEN long END, 0) AS total, datetime.realtime('Z') AS now
ORDER BY scope, subject_key, predicate_key
