// The values of a slot side by side, in one picture: the newest beliefs with their newest events of each kind.
// Each row says of one value what it took the place of, what took its place, and how many events there are.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant     string    tenant name
//   $scopes     list      scopes to look in
//   $subject    string    folded: trimmed, NFC, lower case
//   $predicate  string    folded
//   $known      datetime  what was said of names later is not seen; null: everything
//   $skip       integer   values to pass over, the newest
//   $limit      integer   values at most
// columns:
//   - belief  node     one value
//   - events  list     maps of paths, three of each kind, see fragments/drawn_events.cypher
//   - chain   list     paths, see fragments/drawn_chain.cypher
//   - counts  list     maps of all its events, see fragments/drawn_events.cypher
//   - policy  node     the predicate, or null when nobody declared it
//   - values  integer  values there are, drawn or not

WITH $subject AS subject_key
// include: fragments/names.cypher
CALL (names) {
  UNWIND $scopes AS scope
  MATCH (b:Belief)
  WHERE b.tenant = $tenant AND b.scope = scope AND b.subject_key IN names AND b.predicate_key = $predicate
  WITH b
  ORDER BY b.created_at DESC, b.id
  RETURN collect(b) AS beliefs
}
OPTIONAL MATCH (policy:Predicate {tenant: $tenant, key: $predicate})
WITH beliefs, policy, size(beliefs) AS values
UNWIND beliefs[$skip..$skip + $limit] AS n
LET skip = 0, most = 3
// include: fragments/drawn_events.cypher
// include: fragments/drawn_chain.cypher
RETURN n AS belief, events, chain, counts, policy, values
