// Release the lease. A finished run stores its snapshot time as the cursor; an unfinished run keeps it for the next
// worker. If a model was unavailable, the next attempt waits for a minute, and after each further failure twice as long, up to an
// hour.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $owner     string   owner of the lease
//   $finished  boolean  whether every cluster was completed
//   $away      boolean  whether a model was unavailable
//   $failed    integer  number of clusters that a later run tries again
// columns:

MATCH (c:Consolidation {tenant: $tenant, scope: $scope})
WHERE c.owner = $owner
LET outages = CASE WHEN $away THEN coalesce(c.outages, 0) + 1 ELSE 0 END, now = datetime.realtime('Z')
SET c.outages = outages,
    c.failed = $failed,
    c.away_since = CASE WHEN $away THEN coalesce(c.away_since, now) END,
    c.retry_at = CASE WHEN $away THEN now + duration({seconds: CASE WHEN outages > 6 THEN 3600 ELSE toInteger(60 * 2 ^ (outages - 1)) END}) END,
    c.owner = null,
    c.until = null,
    c.cursor = CASE WHEN $finished THEN c.known ELSE c.cursor END,
    c.known = CASE WHEN $finished THEN null ELSE c.known END
