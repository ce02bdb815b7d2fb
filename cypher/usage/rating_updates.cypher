// List the newest rating changes, newest search first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scopes  list  read scopes
// columns:
//   - search_id  string    id of the SEARCH event
//   - at         datetime  time of the search
//   - kind       string    label of the item: Memory, Belief, Episode or Artifact
//   - id         string    id of the item
//   - text       string    text or name of the item
//   - before     float     rating before the search
//   - after      float     rating after the search

MATCH (e:Event)
USING INDEX e:Event(tenant, type, recorded_at)
WHERE e.tenant = $tenant AND e.type = 'SEARCH' AND e.recorded_at IS NOT NULL AND e.scope IN $scopes
MATCH (e)-[game:RATED]->(n)
WHERE n.scope IN $scopes
WITH e, game, n
ORDER BY e.recorded_at DESC, e.id DESC, game.after - game.before DESC, n.id
LIMIT $limit
RETURN e.id AS search_id, e.occurred_at AS at, labels(n)[0] AS kind, n.id AS id,
       coalesce(n.content, n.statement, n.ref, n.summary, n.session_id) AS text, game.before AS before, game.after AS after
