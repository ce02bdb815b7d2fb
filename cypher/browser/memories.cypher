// Draw the newest memories of a scope. Shows the newest events of each, the words they quote and their episodes. Also
// shows supersessions; `counts` includes events that are not drawn.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $skip   integer  number of newest memories to skip
//   $limit  integer  maximum number of memories
// columns:
//   - memory  node  memory
//   - events  list  maps of paths, two of each kind, see fragments/event_paths.cypher
//   - chain   list  paths, see fragments/chain_paths.cypher
//   - counts  list  maps of event counts, see fragments/event_paths.cypher

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
LET skip = 0, page_size = 2
// include: fragments/event_paths.cypher
// include: fragments/chain_paths.cypher
RETURN n AS memory, events, chain, counts
