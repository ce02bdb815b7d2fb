// What is used most, as the search log says, by rating at the time of the read.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string    whose
//   $scopes  list      scopes the reader can see
//   $kinds   list      of Memory, Belief, Episode and Artifact
//   $valid   datetime  time of the read
//   $fade    map       floor, and days, the time constant of fading
//   $least   float     rating at least, faded
//   $below   float     and below
//   $limit   integer   rows at most
// columns:
//   - kind        string    Memory, Belief, Episode or Artifact
//   - id          string    of the item
//   - scope       string    of the item
//   - text        string    what it says, or how it is called; null when it is gone
//   - elo         float     faded
//   - games       integer   played
//   - touched_at  datetime  when it was last opened in a search's results, or else first returned

MATCH (g:Rating)
WHERE g.tenant = $tenant AND g.elo >= $least AND g.scope IN $scopes AND g.kind IN $kinds
// include: fragments/faded.cypher
FILTER elo >= $least AND elo < $below
WITH g, elo
ORDER BY elo DESC, g.kind, g.id
LIMIT $limit
OPTIONAL MATCH (n:Memory|Belief|Episode|Artifact {tenant: $tenant, id: g.id})
WHERE g.kind IN labels(n)
RETURN g.kind AS kind, g.id AS id, g.scope AS scope,
       coalesce(n.content, n.statement, n.ref, n.summary, n.session_id) AS text,
       elo, g.games AS games, g.touched_at AS touched_at
ORDER BY elo DESC, kind, id
