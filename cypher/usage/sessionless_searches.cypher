// List searches and accesses to artifacts outside sessions that were recorded before a given time, oldest first of each. Takes the roll-up lock first.
// mode: write
// rows: many
// plan: NodeIndexSeek
// params:
//   $before  datetime  exclusive upper bound of recorded_at
//   $limit   integer   maximum number of rows of each kind
// columns:
//   - id        string   id of the event
//   - scope     string   its scope
//   - searches  integer  1 for a search; 0 for an access
//   - results   integer  number of results of a search
//   - accesses  integer  0 for a search; 1 for an access

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
UNION ALL
  MATCH (s:Event)
  USING INDEX s:Event(tenant, type, recorded_at)
  WHERE s.tenant = $tenant AND s.type = 'ACCESS' AND s.recorded_at < $before
    AND NOT EXISTS { (s)-[:WITHIN]->(:Event {tenant: $tenant}) } AND EXISTS { (s)-[:ACCESSED]->(:Artifact {tenant: $tenant}) }
  RETURN s
  ORDER BY s.tenant, s.type, s.recorded_at
  LIMIT $limit
}
LET searches = CASE s.type WHEN 'SEARCH' THEN 1 ELSE 0 END
RETURN s.id AS id, s.scope AS scope, searches, COUNT { (s)-[:RETURNED]->() } AS results, 1 - searches AS accesses
