// The newest memories of a scope, in one picture: each with its newest events, the words they quote, their episodes.
// Around them what they took the place of and what took their place; `counts` says what is not drawn.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string   tenant name
//   $scopes  list     scopes to look in
//   $skip    integer  memories to pass over, the newest
//   $limit   integer  memories at most
// columns:
//   - memory  node  a memory
//   - events  list  maps of paths, two of each kind, see fragments/drawn_events.cypher
//   - chain   list  paths, see fragments/drawn_chain.cypher
//   - counts  list  maps of all its events, see fragments/drawn_events.cypher

UNWIND $scopes AS scope
CALL (scope) {
  MATCH (m:Memory)
  WHERE m.tenant = $tenant AND m.scope = scope AND m.created_at IS NOT NULL
  WITH m
  ORDER BY m.created_at DESC, m.id
  LIMIT $skip + $limit
  RETURN m
}
WITH m AS n
ORDER BY n.created_at DESC, n.id
SKIP $skip
LIMIT $limit
LET skip = 0, most = 2
// include: fragments/drawn_events.cypher
// include: fragments/drawn_chain.cypher
RETURN n AS memory, events, chain, counts
