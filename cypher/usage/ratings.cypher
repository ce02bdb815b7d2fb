// List the items that are used most, by rating at the time of the read.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scopes        list      read scopes
//   $kinds         list      subset of Memory, Belief, Episode and Artifact
//   $valid         datetime  time of the read
//   $rating_decay  map       floor, and days, the time constant of decay
//   $min_elo       float     inclusive lower bound of the decayed rating
//   $below         float     exclusive upper bound of the decayed rating
// columns:
//   - kind        string    Memory, Belief, Episode or Artifact
//   - id          string    id of the item
//   - scope       string    of the item
//   - text        string    text or name of the item; null when it was deleted
//   - elo         float     rating after decay
//   - games       integer   number of rated searches
//   - touched_at  datetime  time of the last access from a search result; before any access, time of the first search that returned it

MATCH (g:Rating)
WHERE g.tenant = $tenant AND g.elo >= $min_elo AND g.scope IN $scopes AND g.kind IN $kinds
LET valid = $valid
// include: fragments/rating_decayed.cypher
FILTER elo >= $min_elo AND elo < $below
WITH g, elo
ORDER BY elo DESC, g.kind, g.id
LIMIT $limit
OPTIONAL MATCH (n:Memory|Belief|Episode|Artifact {tenant: $tenant, id: g.id})
WHERE g.kind IN labels(n)
RETURN g.kind AS kind, g.id AS id, g.scope AS scope,
       coalesce(n.content, n.statement, n.ref, n.summary, n.session_id) AS text,
       elo, g.games AS games, g.touched_at AS touched_at
ORDER BY elo DESC, kind, id
