// How many items have which rating, in steps, at the time of the read.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string    whose
//   $scopes  list      scopes the reader can see
//   $kinds   list      of Memory, Belief, Episode and Artifact
//   $valid   datetime  time of the read
//   $fade    map       floor, and days, the time constant of fading
//   $step    float     points of a step, > 0
// columns:
//   - least  float    the step begins here
//   - items  integer  of it

MATCH (g:Rating)
WHERE g.tenant = $tenant AND g.elo IS NOT NULL AND g.scope IN $scopes AND g.kind IN $kinds
// include: fragments/faded.cypher
RETURN floor(elo / $step) * $step AS least, count(*) AS items
ORDER BY least
