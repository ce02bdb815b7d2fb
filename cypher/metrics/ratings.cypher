// How many items of a tenant have which rating, in steps, in all its scopes, at the time of the read.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string    whose
//   $valid   datetime  time of the read
//   $fade    map       floor, and days, the time constant of fading
//   $step    float     points of a step, > 0
// columns:
//   - kind   string   Memory, Belief, Episode or Artifact
//   - least  float    the step begins here
//   - items  integer  of it, > 0
//   - total  float    sum of their ratings

MATCH (g:Rating)
WHERE g.tenant = $tenant AND g.elo IS NOT NULL
// include: fragments/faded.cypher
RETURN g.kind AS kind, floor(elo / $step) * $step AS least, count(*) AS items, sum(elo) AS total
ORDER BY kind, least
