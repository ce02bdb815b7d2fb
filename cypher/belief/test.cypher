// Run the sequential test of one belief, event by event. Returns its state, the missing evidence and a page of its
// trail. Evidence can be added or left out for a what-if analysis.
// mode: read
// rows: one
// source: Mneva; twin oracles/sequential.py
// plan: NodeUniqueIndexSeek
// params:
//   $id       string    belief id
//   $valid    datetime  upper bound of valid time
//   $known    datetime  upper bound of known time; null: no bound
//   $weights  map       reliability of each source type, in (0, 1]
//   $test     map       upper, lower, promote_step, demote_step, max_confidence, min_confidence
//   $pooled   boolean   only the strongest evidence per episode and polarity counts
//   $extra    list      hypothetical evidence: id, at, polarity, episode, strength
//   $without  list      ids of events to leave out
//   $skip     integer   number of evidence events to skip, oldest first
//   $limit    integer   maximum number of evidence events
// columns:
//   - initial  float     confidence before any evidence
//   - verdict  map       status, log_ratio, confidence, evidence
//   - lines    list      maps, oldest first: id, at, polarity, episode, strength, llr, event (null: hypothetical), weight, turn_id, memory_id, after: a map of at, status, log_ratio, confidence
//   - stray    list      ids of $without other than those of evidence of the belief
//   - now      datetime  server clock

MATCH (m:Belief {tenant: $tenant, id: $id})
WHERE m.scope IN $scopes
// include: fragments/belief_created_as_of.cypher
WITH m AS b, $valid AS valid
// include: fragments/prior.cypher
CALL (b, valid) {
  CALL (b, valid) {
    MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
    // include: fragments/not_retracted.cypher
    // include: fragments/sprt_llr.cypher
    WITH heard
    WHERE NOT heard.id IN $without
    RETURN heard
  UNION ALL
    UNWIND $extra AS x
    RETURN x {.*, event: null, llr: x.polarity * log(x.strength / (1 - x.strength))} AS heard
  }
  WITH heard, CASE
    WHEN $pooled THEN coalesce('in ' + heard.episode, 'alone ' + heard.id) ELSE 'alone ' + heard.id
  END AS episode
  // s and 1 - s may differ in the last digit, so equal ones are ordered by time.
  ORDER BY round(abs(heard.llr), 9) DESC, heard.at, heard.id
  WITH episode, CASE WHEN $pooled THEN heard.polarity END AS polarity, head(collect(heard)) AS heard
  ORDER BY heard.at, heard.id
  RETURN collect(heard) AS pieces
}
// include: fragments/evidence_page.cypher
CALL (initial, pieces, shown) {
  UNWIND pieces AS heard
  // include: fragments/sequential.cypher
  RETURN verdict, steps
}
// include: fragments/trail_page.cypher
LET stray = [x IN $without WHERE NOT EXISTS { (:Event {tenant: $tenant, id: x})-[:SUPPORTS|REFUTES]->(:Belief {tenant: $tenant, id: $id}) }]
RETURN initial, verdict, lines, stray, datetime.realtime('Z') AS now
