// Return a histogram of the ratings of a tenant at the time of the read, over all its scopes.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $step  float  width of a bucket in rating points, > 0
// columns:
//   - kind   string   Memory, Belief, Episode or Artifact
//   - min_elo  float    lower bound of the bucket
//   - items  integer  number of items in the bucket, > 0
//   - total  float    sum of their ratings

MATCH (g:Rating)
WHERE g.tenant = $tenant AND g.elo IS NOT NULL
LET valid = $valid
// include: fragments/rating_decayed.cypher
RETURN g.kind AS kind, floor(elo / $step) * $step AS min_elo, count(*) AS items, sum(elo) AS total
ORDER BY kind, min_elo
