// What a roll-up would take: settled sessions that ended before an instant, up to the first that did not, in the order in which they ended.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string    whose
//   $before  datetime  their ends were recorded before
// columns:
//   - sessions  integer  in which something was searched for
//   - searches  integer  made in them
//   - results   integer  that these returned

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
RETURN sessions, searches, results
