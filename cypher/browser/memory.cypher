// Where a memory comes from, in one picture: its newest events of each kind, the words they quote, their episodes.
// Around it what it took the place of, what took its place and the beliefs it claims; `counts` says what is not drawn.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string   tenant name
//   $scopes  list     scopes to look in
//   $id      string   of the memory
//   $skip    integer  events of each kind to pass over, the newest
//   $limit   integer  events of each kind at most, and neighbours of each kind
// columns:
//   - memory  node  the memory
//   - events  list  maps of paths, see fragments/drawn_events.cypher
//   - chain   list  paths, see fragments/drawn_chain.cypher
//   - claims  list  paths to the newest beliefs that it claims
//   - counts  list  maps of all its events, see fragments/drawn_events.cypher

MATCH (n:Memory {tenant: $tenant, id: $id})
WHERE n.scope IN $scopes
LET skip = $skip, most = $limit
// include: fragments/drawn_events.cypher
// include: fragments/drawn_chain.cypher
CALL (n) {
  MATCH way = (n)-[:CLAIMS]->(b:Belief)
  WHERE b.scope IN $scopes
  WITH way, b
  ORDER BY b.created_at DESC, b.id
  RETURN collect(way) AS claims
}
RETURN n AS memory, events, chain, claims[..most] AS claims, counts
