// List candidates for a pack. Returns the items with the highest ratings at the time of the read, and unrated memories,
// most recently stated first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scopes        list      read scopes
//   $kinds         list      subset of Memory, Belief, Episode and Artifact
//   $valid         datetime  time of the read
//   $known         datetime  upper bound of known time; null: no bound
//   $rating_decay  map       floor, and days, the time constant of decay
//   $limit         integer   maximum number of rated items, and of unrated items of each scope
// columns:
//   - id     string  id of the item
//   - kind   string  memory, belief, episode, file, symbol or document
//   - ref    string  reference of an artifact; else ''
//   - title  string  title of an episode (its session); else ''
//   - text   string  text of the item; '' for an artifact
//   - elo    float   decayed rating; null: never rated

CALL () {
  MATCH (g:Rating)
  WHERE g.tenant = $tenant AND g.elo IS NOT NULL AND g.scope IN $scopes AND g.kind IN $kinds
  LET valid = $valid
  // include: fragments/rating_decayed.cypher
  WITH g, elo
  ORDER BY elo DESC, g.kind, g.id
  LIMIT $limit
  MATCH (n:Memory|Belief|Episode|Artifact {tenant: $tenant, id: g.id})
  WHERE g.kind IN labels(n) AND coalesce(n.status, 'current') = 'current'
  RETURN n, elo
UNION ALL
  UNWIND CASE WHEN 'Memory' IN $kinds THEN $scopes ELSE [] END AS scope
  CALL (scope) {
    MATCH (n:Memory)
    USING INDEX SEEK n:Memory(tenant, scope, status, trace_at)
    WHERE n.tenant = $tenant AND n.scope = scope AND n.status = 'current' AND n.trace_at IS NOT NULL
      AND NOT EXISTS { (g:Rating {tenant: $tenant, kind: 'Memory', id: n.id}) }
    RETURN n
    ORDER BY n.trace_at DESC
    LIMIT $limit
  }
  RETURN n, null AS elo
}
LET p = n, node = n
// include: fragments/episode_archived.cypher
// include: fragments/rejected_for_reader.cypher
FILTER (NOT put_away OR NOT n:Episode) AND NOT reader_rejects
RETURN n.id AS id, coalesce(n.kind, CASE WHEN n:Memory THEN 'memory' WHEN n:Belief THEN 'belief' ELSE 'episode' END) AS kind,
       coalesce(n.ref, '') AS ref, coalesce(n.session_id, '') AS title, coalesce(n.content, n.statement, n.summary, n.gist, '') AS text, elo
ORDER BY elo DESC, id
