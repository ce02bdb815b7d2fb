// What a roll-up would take of searches outside any session: those that were recorded before an instant.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $tenant  string    whose
//   $before  datetime  recorded before
// columns:
//   - searches  integer  made
//   - results   integer  that these returned

MATCH (s:Event)
USING INDEX s:Event(tenant, type, recorded_at)
WHERE s.tenant = $tenant AND s.type = 'SEARCH' AND s.recorded_at < $before
  AND NOT EXISTS { (s)-[:WITHIN]->(:Event) }
RETURN count(s) AS searches, sum(COUNT { (s)-[:RETURNED]->() }) AS results
