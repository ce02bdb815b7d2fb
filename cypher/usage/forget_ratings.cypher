// Delete a batch of ratings and their change log, and restart rating from the checkpoint. Rolled-up searches are not
// rated again, so ratings return to their values at the checkpoint.
// mode: write
// rows: one
// plan: NodeIndexSeek
// params:
//   $limit  integer  maximum number of ratings to delete, >= 1
// columns:
//   - dropped  integer  number of ratings deleted

MERGE (r:Rater {tenant: $tenant})
SET r.rated = coalesce(r.rolled, 0)
WITH r
CALL () {
  MATCH (g:Rating)
  WHERE g.tenant = $tenant AND g.elo IS NOT NULL
    AND (g.base_elo IS NULL OR g.games <> g.base_games OR g.touched_at <> g.base_touched_at)
  WITH g
  LIMIT $limit
  OPTIONAL MATCH (:Event {tenant: $tenant})-[game:RATED]->(n:Memory|Belief|Episode|Artifact {tenant: $tenant, id: g.id})
  WHERE g.kind IN labels(n)
  DELETE game
  WITH DISTINCT g, g.base_elo IS NULL AS is_new
  CALL (g, is_new) {
    FILTER NOT is_new
    SET g.elo = g.base_elo, g.games = g.base_games, g.touched_at = g.base_touched_at
  }
  CALL (g, is_new) {
    FILTER is_new
    DELETE g
  }
  RETURN count(*) AS dropped
}
RETURN dropped
