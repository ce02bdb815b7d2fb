// Why a belief is believed, in one picture: its newest events of each kind, the words they quote, their episodes.
// Around it what it took the place of, what took its place and the memories that claim it; `counts` says what is not drawn.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string   tenant name
//   $scopes  list     scopes to look in
//   $id      string   of the belief
//   $skip    integer  events of each kind to pass over, the newest
//   $limit   integer  events of each kind at most, and neighbours of each kind
// columns:
//   - belief  node  the belief
//   - events  list  maps of paths, see fragments/drawn_events.cypher
//   - chain   list  paths, see fragments/drawn_chain.cypher
//   - claims  list  paths from the newest memories that claim it
//   - counts  list  maps of all its events, see fragments/drawn_events.cypher

MATCH (n:Belief {tenant: $tenant, id: $id})
WHERE n.scope IN $scopes
LET skip = $skip, most = $limit
// include: fragments/drawn_events.cypher
// include: fragments/drawn_chain.cypher
CALL (n) {
  MATCH way = (n)<-[:CLAIMS]-(m:Memory)
  WHERE m.scope IN $scopes
  WITH way, m
  ORDER BY m.created_at DESC, m.id
  RETURN collect(way) AS claims
}
RETURN n AS belief, events, chain, claims[..most] AS claims, counts
