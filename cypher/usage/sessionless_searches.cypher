// List searches outside sessions that were recorded before a given time, oldest first. Takes the roll-up lock first.
// mode: write
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string    tenant name
//   $before  datetime  exclusive upper bound of recorded_at
//   $limit   integer   maximum number of rows
// columns:
//   - id       string   id of the search
//   - scope    string   scope of the search
//   - results  integer  number of results returned

MERGE (r:Rater {tenant: $tenant})
// Writing before reading takes the write lock, so this query waits for concurrent rating and roll-up.
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
