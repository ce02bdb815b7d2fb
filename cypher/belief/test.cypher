// The sequential test of one belief, piece by piece: where it stands, what is lacking, and a page of its trail. Evidence can be
// added and left out, to see what would be.
// mode: read
// rows: one
// source: Mneva; twin oracles/sequential.py
// plan: NodeUniqueIndexSeek
// params:
//   $tenant   string    tenant name
//   $scopes   list      read scopes
//   $id       string    of the belief
//   $valid    datetime  instant in the world that is asked about
//   $known    datetime  what was recorded later is not seen; null: everything
//   $weights  map       reliability of each source type, in (0, 1]
//   $test     map       upper, lower, promote_step, demote_step, most, least
//   $pooled   boolean   of an episode and a polarity only the strongest piece counts
//   $extra    list      pieces to suppose: id, at, polarity, episode, strength
//   $without  list      ids of events to leave out
//   $skip     integer   pieces to pass over, the oldest
//   $limit    integer   pieces to show
// columns:
//   - initial  float  confidence before any evidence
//   - verdict  map    status, log_ratio, confidence, evidence
//   - lines    list   maps, oldest first: id, at, polarity, episode, strength, llr, event (null: supposed), weight, turn_id, memory_id, after: [instant, status, log_ratio, confidence]
//   - now      datetime  the server's clock

MATCH (m:Belief {tenant: $tenant, id: $id})
WHERE m.scope IN $scopes
// include: fragments/belief_seen.cypher
WITH m AS b, $valid AS valid
// include: fragments/initial.cypher
CALL (b, valid) {
  CALL (b, valid) {
    MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
    // include: fragments/counted.cypher
    // include: fragments/heard.cypher
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
  // s and 1 - s may differ in the last digit, so equal ones are told apart by their instant.
  ORDER BY round(abs(heard.llr), 9) DESC, heard.at, heard.id
  WITH episode, CASE WHEN $pooled THEN heard.polarity END AS polarity, head(collect(heard)) AS heard
  ORDER BY heard.at, heard.id
  RETURN collect(heard) AS pieces
}
// include: fragments/page.cypher
CALL (initial, pieces, shown) {
  UNWIND pieces AS heard
  // include: fragments/sequential.cypher
  RETURN verdict, steps
}
// include: fragments/lines.cypher
RETURN initial, verdict, lines, datetime.realtime('Z') AS now
