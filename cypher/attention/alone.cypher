// Searches outside any session that were recorded before an instant, the oldest first, once nobody else rolls the log up.
// mode: write
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string    whose
//   $before  datetime  recorded before
//   $limit   integer   rows at most
// columns:
//   - id       string   of the search
//   - scope    string   of the search
//   - results  integer  that it returned

MERGE (r:Rater {tenant: $tenant})
// Written before anything is looked for, so that it waits for whoever rates or rolls up.
SET r.rolled = coalesce(r.rolled, 0)
WITH r
CALL (r) {
  MATCH (s:Event)
  USING INDEX s:Event(tenant, type, recorded_at)
  WHERE s.tenant = $tenant AND s.type = 'SEARCH' AND s.recorded_at < $before
    AND NOT EXISTS { (s)-[:WITHIN]->(:Event) }
  RETURN s
  ORDER BY s.tenant, s.type, s.recorded_at
  LIMIT $limit
}
RETURN s.id AS id, s.scope AS scope, COUNT { (s)-[:RETURNED]->() } AS results
