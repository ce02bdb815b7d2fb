// Draw the results of a search, in order. Shows the newest events of each, the words they quote and their episodes. The
// search needs the embedding of the question, so graphmem runs it first and passes the ids.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ids    list     ids of memories, beliefs and turns, best first
//   $skip   integer  number of newest events of each kind to skip
//   $limit  integer  maximum number of events, and of neighbours, of each kind
// columns:
//   - place   integer  rank, from 1
//   - item    node     search result
//   - events  list     maps of paths, see fragments/event_paths.cypher
//   - chain   list     paths, see fragments/chain_paths.cypher
//   - within  list     path from a turn to its episode
//   - counts  list     maps of event counts, see fragments/event_paths.cypher

UNWIND range(0, size($ids) - 1) AS i
MATCH (n:Memory|Belief|Turn {tenant: $tenant, id: $ids[i]})
WHERE n.scope IN $scopes
LET skip = $skip, page_size = $limit
// include: fragments/event_paths.cypher
// include: fragments/chain_paths.cypher
CALL (n) {
  MATCH way = (n)-[:OCCURRED_IN]->(:Episode)
  RETURN collect(way) AS within
}
RETURN i + 1 AS place, n AS item, events, chain, within, counts
ORDER BY place
