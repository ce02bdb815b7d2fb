// Count the searches and accesses to artifacts outside sessions that a roll-up would cover. These were recorded before a given time.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $before  datetime  exclusive upper bound of recorded_at
// columns:
//   - searches  integer  number of searches
//   - results   integer  number of results returned by these searches
//   - accesses  integer  number of accesses

MATCH (s:Event)
USING INDEX s:Event(tenant, type, recorded_at)
WHERE s.tenant = $tenant AND s.type = 'SEARCH' AND s.recorded_at < $before
  AND NOT EXISTS { (s)-[:WITHIN]->(:Event) }
WITH count(s) AS searches, sum(COUNT { (s)-[:RETURNED]->() }) AS results
CALL (searches) {
  MATCH (a:Event)
  USING INDEX a:Event(tenant, type, recorded_at)
  WHERE a.tenant = $tenant AND a.type = 'ACCESS' AND a.recorded_at < $before
    AND NOT EXISTS { (a)-[:WITHIN]->(:Event {tenant: $tenant}) } AND EXISTS { (a)-[:ACCESSED]->(:Artifact {tenant: $tenant}) }
  RETURN count(a) AS accesses
}
RETURN searches, results, accesses
