// Draw why a belief is believed. Shows its newest events of each kind, the words they quote and their episodes. Also
// shows supersessions and the memories that claim it; `counts` includes events that are not drawn.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $id     string   belief id
//   $skip   integer  number of newest events of each kind to skip
//   $limit  integer  maximum number of events, and of neighbours, of each kind
// columns:
//   - belief  node  belief
//   - events  list  maps of paths, see fragments/event_paths.cypher
//   - chain   list  paths, see fragments/chain_paths.cypher
//   - claims  list  paths from the newest memories that claim the belief
//   - counts  list  maps of event counts, see fragments/event_paths.cypher

MATCH (n:Belief {tenant: $tenant, id: $id})
WHERE n.scope IN $scopes
LET skip = $skip, page_size = $limit
// include: fragments/event_paths.cypher
// include: fragments/chain_paths.cypher
CALL (n) {
  MATCH way = (n)<-[:CLAIMS]-(m:Memory)
  WHERE m.scope IN $scopes
  WITH way, m
  ORDER BY m.created_at DESC, m.id
  RETURN collect(way) AS claims
}
RETURN n AS belief, events, chain, claims[..page_size] AS claims, counts
