// Return a histogram of ratings at the time of the read.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scopes        list      read scopes
//   $kinds         list      subset of Memory, Belief, Episode and Artifact
//   $valid         datetime  time of the read
//   $rating_decay  map       floor, and days, the time constant of decay
//   $step          float     width of a bucket in rating points, > 0
// columns:
//   - min_elo  float    lower bound of the bucket
//   - items  integer  number of items in the bucket

MATCH (g:Rating)
WHERE g.tenant = $tenant AND g.elo IS NOT NULL AND g.scope IN $scopes AND g.kind IN $kinds
LET valid = $valid
// include: fragments/rating_decayed.cypher
RETURN floor(elo / $step) * $step AS min_elo, count(*) AS items
ORDER BY min_elo
