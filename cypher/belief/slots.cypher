// Slots, in the order of scope, subject and predicate, a page at a time: what each holds, read as its predicate's policy has it.
// mode: read
// rows: many
// source: ESPER, MANY and ONE; twin oracles/projection.py
// plan: NodeIndexSeek
// params:
//   $tenant            string    tenant name
//   $scopes            list      read scopes
//   $subject           string    folded; null: all of them
//   $after_scope       string    of the slot that the page before ended with; '' at first
//   $after_subject     string    its folded subject; '' at first
//   $after_predicate   string    its folded predicate; '' at first
//   $slots             integer   slots of a page
//   $limit             integer   candidates to return of each, the best
//   $valid             datetime  instant in the world that is asked about
//   $known             datetime  what was recorded later is not seen; null: everything
//   $policy            map       to read by; null: as declared
//   $present_policy    boolean   read by the policy declared by now, and not by that of $valid and $known
//   $default_policy    map       of a predicate that nobody declared
//   $weights           map       reliability of each source type, in (0, 1]
// columns:
//   - scope          string    where the slot is
//   - subject_key    string    folded
//   - names          list      by which the subject is known, folded, that one first
//   - predicate_key  string    folded
//   - predicate      string    as first written; null: no candidates
//   - policy         map       by which it was read
//   - candidates     list      maps, best first: see belief/current
//   - total          integer   how many candidates there are
//   - now            datetime  the server's clock

// include: fragments/slot_page.cypher
LET valid = $valid, mine = []
// include: fragments/names.cypher
// include: fragments/policy.cypher
CALL (scope, names, predicate_key, mine, valid, policy) {
  FILTER policy.cardinality = 'ONE'
  // include: fragments/slot.cypher
  // include: fragments/counted.cypher
  // include: fragments/weighs.cypher
  // include: fragments/among_others.cypher
  // include: fragments/project_one.cypher
  // include: fragments/best_one.cypher
  RETURN n_one, one
}
CALL (scope, names, predicate_key, mine, valid, policy) {
  FILTER policy.cardinality = 'MANY'
  // include: fragments/slot.cypher
  // include: fragments/counted.cypher
  WITH b, e, false AS covered
  // include: fragments/says.cypher
  // include: fragments/beside_others.cypher
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
RETURN scope, subject_key, names, predicate_key, coalesce(one[0][0], many[0][0]).predicate AS predicate, policy, candidates,
       coalesce(n_one, n_many, 0) AS total, datetime.realtime('Z') AS now
ORDER BY scope, subject_key, predicate_key
