// List what rated sessions searched and opened, in the order in which they ended. Paged. A turn counts for its episode.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scopes          list     read scopes
//   $after_position  integer  position of the last row of the previous page; 0 for the first page
//   $top             integer  number of best results of each search
// columns:
//   - position  integer  position of the session's end
//   - searches  list     maps: at, top (ids of its best results), changes (maps: id, after, the new rating)
//   - opened    list     maps: id, at

MATCH (r:Rater {tenant: $tenant})
LET rated = coalesce(r.rated, 0)
CALL (rated) {
  MATCH (end:Event)
  WHERE end.tenant = $tenant AND end.position > $after_position AND end.position <= rated
  MATCH (end)-[:WITHIN]->(start:Event {tenant: $tenant})
  RETURN end.position AS position, start
  ORDER BY end.tenant, end.position
  LIMIT $limit
}
CALL (start) {
  MATCH (start)<-[:WITHIN]-(s:Event {tenant: $tenant, type: 'SEARCH'})
  WHERE s.scope IN $scopes
  WITH s
  ORDER BY s.occurred_at, s.id
  CALL (s) {
    MATCH (s)-[hit:RETURNED]->(n {tenant: $tenant})
    WHERE hit.rank <= $top
    OPTIONAL MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
    WHERE n:Turn
    WITH hit.rank AS rank, coalesce(p, n) AS n
    ORDER BY rank
    RETURN collect(n.id) AS top
  }
  CALL (s) {
    MATCH (s)-[game:RATED]->(n {tenant: $tenant})
    RETURN collect({id: n.id, after: game.after}) AS changes
  }
  RETURN collect({at: s.occurred_at, top: top, changes: changes}) AS searches
}
CALL (start) {
  MATCH (start)<-[:WITHIN]-(look:Event {tenant: $tenant, type: 'ACCESS'})-[:ACCESSED]->(n {tenant: $tenant})
  WHERE look.scope IN $scopes
  OPTIONAL MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
  WHERE n:Turn
  RETURN collect({id: coalesce(p, n).id, at: look.occurred_at}) AS opened
}
RETURN position, searches, opened
ORDER BY position
