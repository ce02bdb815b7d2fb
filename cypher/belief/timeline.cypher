// Return a time series of the value and the test state of one belief. Each time uses the policy in force then. Times
// before the first event of the belief are omitted.
// mode: read
// rows: many
// source: ESPER, Mneva; twins oracles/projection.py, oracles/sequential.py
// plan: NodeUniqueIndexSeek
// params:
//   $id        string    belief id
//   $valid     datetime  last time, unless times are given
//   $known     datetime  upper bound of known time; null: no bound
//   $instants  list      times to read at, in order; null: the times of its events, or of those of the other candidates of a ONE slot, and $valid
//   $points    integer   maximum number of times, 3 or more
// columns:
//   - at       datetime  time of the read
//   - card     map       id, statement, subject, predicate, object
//   - belief   float     in [0, 1]
//   - verdict  map       status, log_ratio, confidence, evidence
//   - now      datetime  server clock

MATCH (asked:Belief {tenant: $tenant, id: $id})
WHERE asked.scope IN $scopes
WITH asked, $valid AS valid, coalesce(asked.predicate_key, '') AS predicate_key, asked.scope AS scope
// include: fragments/policy.cypher
LET subject_key = asked.subject_key, mine = [asked]
// include: fragments/subject_names.cypher
// include: fragments/slot.cypher
CALL (asked, members, policy) {
  CALL (asked, members, policy) {
    MATCH (asked)<-[:SUPPORTS|REFUTES|CONCERNS]-(x:Event)
    WHERE x.scope IN $scopes
    RETURN x
  // Not the distinct ones: the members would be compared, for each row.
  UNION ALL
    FILTER policy.cardinality = 'ONE'
    // include: fragments/slot_evidence.cypher
    RETURN e AS x
  }
  FILTER x.occurred_at <= $valid AND ($known IS NULL OR x.recorded_at <= $known)
  WITH DISTINCT x.occurred_at AS at
  ORDER BY at
  RETURN collect(at) AS times
}
WITH asked, predicate_key, scope, members, times
// include: fragments/sample_instants.cypher
UNWIND instants AS valid
WITH asked, asked AS b, predicate_key, scope, members, valid, [] AS shown
WHERE EXISTS {
  MATCH (asked)<-[:SUPPORTS|REFUTES|CONCERNS]-(x:Event)
  WHERE x.scope = asked.scope AND x.occurred_at <= valid AND ($known IS NULL OR x.recorded_at <= $known)
}
// include: fragments/prior.cypher
// include: fragments/policy.cypher
CALL (asked, valid, policy) {
  MATCH (asked)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/not_retracted.cypher
  // include: fragments/noisy_or_term.cypher
  WITH *, asked AS b, false AS covered
  // include: fragments/to_many_row.cypher
  // include: fragments/project_many.cypher
  RETURN collect(projected.belief)[0] AS alone
}
CALL (asked, members, valid, policy) {
  FILTER policy.cardinality = 'ONE'
  // include: fragments/slot_evidence.cypher
  // include: fragments/not_rejected.cypher
  // include: fragments/not_retracted.cypher
  // include: fragments/overwrite_strength.cypher
  // include: fragments/to_one_row.cypher
  // include: fragments/project_one.cypher
  RETURN head([x IN ranked WHERE x.b = asked | x.belief]) AS score
}
CALL (b, valid, initial, shown) {
  MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/not_retracted.cypher
  // include: fragments/sprt_llr.cypher
  // include: fragments/sequential.cypher
  RETURN verdict
}
RETURN valid AS at, asked {.id, .statement, .subject, .predicate, .object} AS card,
       coalesce(score, alone, initial) AS belief, verdict, datetime.realtime('Z') AS now
ORDER BY at
