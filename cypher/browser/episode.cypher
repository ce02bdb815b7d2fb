// Draw a page of the turns of an episode, in order. Also shows its newest events, the words they quote, and their
// memories and beliefs; `counts` includes events that are not drawn.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $id     string   episode id
//   $skip   integer  number of first turns, and of newest events, to skip
//   $limit  integer  maximum number of turns, and of events
// columns:
//   - episode  node     episode
//   - turns    list     paths from the turns of the episode
//   - events   list     maps of paths: within, words, about
//   - turn_count     integer  total number of turns, drawn or not
//   - counts   list     maps of event counts: of, events, newest; most events first

MATCH (n:Episode {tenant: $tenant, id: $id})
WHERE n.scope IN $scopes
LET skip = $skip, page_size = $limit
CALL (n) {
  MATCH way = (n)<-[:OCCURRED_IN]-(t:Turn)
  WITH way, t
  ORDER BY t.position
  RETURN collect(way) AS ways
}
CALL (n, skip, page_size) {
  MATCH within = (n)<-[:OCCURRED_IN]-(e:Event)
  WITH skip, page_size, within, e
  ORDER BY e.occurred_at DESC, e.id DESC
  WITH skip, page_size, collect([within, e]) AS found
  UNWIND found[skip..skip + page_size] AS x
  WITH x[0] AS within, x[1] AS e
  WITH {
    within: within,
    words: COLLECT { MATCH words = (e)-[:QUOTES]->(t:Turn) RETURN words ORDER BY t.position, t.id LIMIT 2 },
    about: COLLECT {
      MATCH about = (e)-[:SUPPORTS|REFUTES|REINFORCES|CONCERNS]->(x)
      WHERE x.scope IN $scopes
      RETURN about ORDER BY x.id LIMIT 3
    }
  } AS event
  RETURN collect(event) AS events
}
CALL (n) {
  MATCH (n)<-[:OCCURRED_IN]-(e:Event)
  WITH coalesce(e.source_type, e.type) AS of, count(*) AS number, max(e.occurred_at) AS newest
  ORDER BY number DESC, of
  RETURN collect({of: of, events: number, newest: toString(newest)}) AS counts
}
RETURN n AS episode, ways[skip..skip + page_size] AS turns, events, size(ways) AS turn_count, counts
