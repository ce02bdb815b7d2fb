// Draw where a memory comes from. Shows its newest events of each kind, the words they quote and their episodes. Also
// shows supersessions and the beliefs it claims; `counts` includes events that are not drawn.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $id     string   memory id
//   $skip   integer  number of newest events of each kind to skip
//   $limit  integer  maximum number of events, and of neighbours, of each kind
// columns:
//   - memory  node  memory
//   - events  list  maps of paths, see fragments/event_paths.cypher
//   - chain   list  paths, see fragments/chain_paths.cypher
//   - claims  list  paths to the newest beliefs that the memory claims
//   - counts  list  maps of event counts, see fragments/event_paths.cypher

MATCH (n:Memory {tenant: $tenant, id: $id})
WHERE n.scope IN $scopes
LET skip = $skip, page_size = $limit
// include: fragments/event_paths.cypher
// include: fragments/chain_paths.cypher
CALL (n) {
  MATCH way = (n)-[:CLAIMS]->(b:Belief)
  WHERE b.scope IN $scopes
  WITH way, b
  ORDER BY b.created_at DESC, b.id
  RETURN collect(way) AS claims
}
RETURN n AS memory, events, chain, claims[..page_size] AS claims, counts
