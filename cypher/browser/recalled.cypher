// What a search found, in its order and in one picture: each with its newest events, the words they quote, their episodes.
// The search itself needs the question's embedding, so graphmem does it first and the ids of what it found stand here.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string   tenant name
//   $scopes  list     scopes to look in
//   $ids     list     of memories, beliefs and turns, best first
//   $skip    integer  events of each kind to pass over, the newest
//   $limit   integer  events of each kind at most, and neighbours of each kind
// columns:
//   - place   integer  from 1
//   - item    node     what was found
//   - events  list     maps of paths, see fragments/drawn_events.cypher
//   - chain   list     paths, see fragments/drawn_chain.cypher
//   - within  list     path to the episode of a turn
//   - counts  list     maps of all its events, see fragments/drawn_events.cypher

UNWIND range(0, size($ids) - 1) AS i
MATCH (n:Memory|Belief|Turn {tenant: $tenant, id: $ids[i]})
WHERE n.scope IN $scopes
LET skip = $skip, most = $limit
// include: fragments/drawn_events.cypher
// include: fragments/drawn_chain.cypher
CALL (n) {
  MATCH way = (n)-[:OCCURRED_IN]->(:Episode)
  RETURN collect(way) AS within
}
RETURN i + 1 AS place, n AS item, events, chain, within, counts
ORDER BY place
