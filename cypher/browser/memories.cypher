// Draw the newest memories of a scope. Shows the newest events of each, the words they quote and their episodes. Also
// shows supersessions; `counts` includes events that are not drawn.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string   tenant name
//   $scopes  list     scopes to search
//   $skip    integer  number of newest memories to skip
//   $limit   integer  maximum number of memories
// columns:
//   - memory  node  memory
//   - events  list  maps of paths, two of each kind, see fragments/drawn_events.cypher
//   - chain   list  paths, see fragments/drawn_chain.cypher
//   - counts  list  maps of event counts, see fragments/drawn_events.cypher

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
