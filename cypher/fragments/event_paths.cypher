// Collect the events of `n`, a memory or a belief, as paths to draw. Per kind of edge: a page of its events, newest
// first, each with two quoted turns, its episode and two retractions.
// needs: n, skip, page_size
// leaves: events (maps of paths), counts (maps for all events, drawn or not, most first: edge, of, events, sources,
// retractions, newest)

CALL (n, skip, page_size) {
  MATCH path = (n)<-[edge:SUPPORTS|REFUTES|REINFORCES|CONCERNS]-(e:Event)
  WHERE e.scope IN $scopes
  WITH type(edge) AS edge, path, e
  ORDER BY e.occurred_at DESC, e.id DESC
  WITH edge, collect([path, e]) AS found
  UNWIND found[skip..skip + page_size] AS x
  WITH x[0] AS path, x[1] AS e
  WITH {
    path: path,
    quoted: COLLECT {
      MATCH quoted = (e)-[:QUOTES]->(t:Turn)-[:OCCURRED_IN]->(:Episode)
      RETURN quoted ORDER BY t.position, t.id LIMIT 2
    },
    episode: COLLECT { MATCH episode = (e)-[:OCCURRED_IN]->(:Episode) RETURN episode LIMIT 1 },
    retracted_by: COLLECT {
      MATCH retracted_by = (e)<-[:RETRACTS]-(r:Event)
      RETURN retracted_by ORDER BY r.occurred_at DESC, r.id DESC LIMIT 2
    }
  } AS event
  RETURN collect(event) AS events
}
CALL (n) {
  MATCH (n)<-[edge:SUPPORTS|REFUTES|REINFORCES|CONCERNS]-(e:Event)
  WHERE e.scope IN $scopes
  WITH type(edge) AS edge, coalesce(e.source_type, e.type) AS of, count(*) AS number, count(DISTINCT e.source) AS sources,
       sum(COUNT { (e)<-[:RETRACTS]-(:Event) }) AS retractions, max(e.occurred_at) AS newest
  ORDER BY number DESC, edge, of
  RETURN collect({
    edge: edge, of: of, events: number, sources: sources, retractions: retractions, newest: toString(newest)
  }) AS counts
}
