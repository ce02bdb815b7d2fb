// Count the sessions, searches and accesses to artifacts that a roll-up would cover. These are rated sessions that ended before a given time,
// in the order in which they ended, up to the first that does not qualify.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $before  datetime  exclusive upper bound of the recorded_at of session ends
// columns:
//   - sessions  integer  number of sessions with searches
//   - accesses  integer  number of accesses to artifacts in rated sessions
//   - searches  integer  number of searches in these sessions
//   - results   integer  number of results returned by these searches

MATCH (r:Rater {tenant: $tenant})
LET rolled = coalesce(r.rolled, 0), rated = coalesce(r.rated, 0)
CALL (rolled, rated) {
  MATCH (end:Event)
  USING INDEX SEEK end:Event(tenant, position)
  WHERE end.tenant = $tenant AND end.position > rolled AND end.position <= rated AND end.recorded_at >= $before
  RETURN min(end.position) AS late
}
CALL (rolled, rated, late) {
  MATCH (end:Event)
  USING INDEX SEEK end:Event(tenant, position)
  WHERE end.tenant = $tenant AND end.position > rolled AND end.position <= rated AND (late IS NULL OR end.position < late)
  MATCH (end)-[:WITHIN]->(start:Event)<-[:WITHIN]-(s:Event {type: 'SEARCH'})
  RETURN count(DISTINCT start) AS sessions, count(s) AS searches, sum(COUNT { (s)-[:RETURNED]->() }) AS results
}
CALL (rolled, rated, late) {
  MATCH (end:Event)
  USING INDEX SEEK end:Event(tenant, position)
  WHERE end.tenant = $tenant AND end.position > rolled AND end.position <= rated AND (late IS NULL OR end.position < late)
  MATCH (end)-[:WITHIN]->(:Event {tenant: $tenant})<-[:WITHIN]-(a:Event {tenant: $tenant, type: 'ACCESS'})-[:ACCESSED]->(:Artifact {tenant: $tenant})
  RETURN count(a) AS accesses
}
RETURN sessions, accesses, searches, results
