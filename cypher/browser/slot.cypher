// Draw the candidates of a slot side by side. Shows the newest beliefs with their newest events of each kind. Each row
// contains the supersessions and the event counts of one candidate.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $subject    string    folded: trimmed, NFC, lower case
//   $predicate  string    folded
//   $known      datetime  upper bound of known time for aliases; null: no bound
//   $skip       integer   number of newest candidates to skip
//   $limit      integer   maximum number of candidates
// columns:
//   - belief  node     candidate
//   - events  list     maps of paths, three of each kind, see fragments/event_paths.cypher
//   - chain   list     paths, see fragments/chain_paths.cypher
//   - counts  list     maps of event counts, see fragments/event_paths.cypher
//   - policy  node     predicate, or null if it is not declared
//   - values  integer  total number of candidates, drawn or not

CALL () {
  UNWIND $scopes AS scope
  LET subject_key = $subject
  // include: fragments/subject_names.cypher
  MATCH (b:Belief)
  WHERE b.tenant = $tenant AND b.scope = scope AND b.subject_key IN names AND b.predicate_key = $predicate
  WITH b
  ORDER BY b.created_at DESC, b.id
  RETURN collect(b) AS beliefs
}
LET predicate_key = $predicate
// include: fragments/declaration.cypher
WITH beliefs, declared AS policy, size(beliefs) AS values
UNWIND beliefs[$skip..$skip + $limit] AS n
LET skip = 0, page_size = 3
// include: fragments/event_paths.cypher
// include: fragments/chain_paths.cypher
RETURN n AS belief, events, chain, counts, policy, values
