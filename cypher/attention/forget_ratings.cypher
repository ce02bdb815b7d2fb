// Drop ratings and the log of their changes, some at a time, and settle from the beginning again.
// mode: write
// rows: one
// plan: NodeIndexSeek
// params:
//   $tenant  string   whose
//   $limit   integer  ratings to drop at most, >= 1
// columns:
//   - dropped  integer  ratings

MERGE (r:Rater {tenant: $tenant})
SET r.rated = 0
WITH r
CALL () {
  MATCH (g:Rating)
  WHERE g.tenant = $tenant AND g.elo IS NOT NULL
  WITH g
  LIMIT $limit
  OPTIONAL MATCH (:Event {tenant: $tenant})-[game:RATED]->(n:Memory|Belief|Episode|Artifact {tenant: $tenant, id: g.id})
  WHERE g.kind IN labels(n)
  DELETE game
  WITH DISTINCT g
  DELETE g
  RETURN count(*) AS dropped
}
RETURN dropped
