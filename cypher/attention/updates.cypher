// The newest changes of ratings, newest search first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string   whose
//   $scopes  list     scopes the reader can see
//   $limit   integer  rows at most
// columns:
//   - search_id  string    of the SEARCH event
//   - at         datetime  when it was made
//   - kind       string    of the item: Memory, Belief, Episode or Artifact
//   - id         string    of the item
//   - text       string    what it says, or how it is called
//   - before     float     its rating before the search
//   - after      float     and after it

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
