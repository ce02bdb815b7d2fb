// Return the consolidation state of a scope. Counts its episodes and the new ones, and reports a run in progress.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// columns:
//   - episodes    integer   number of episodes in the scope
//   - fresh       integer   number of episodes recorded after the snapshot of the last finished run
//   - cursor      datetime  snapshot time of the last finished run; null: no run has finished
//   - open        datetime  snapshot time of a running or interrupted run; null: none
//   - held        boolean   whether a worker holds the lease
//   - failed      integer   number of clusters that the last run left to try again
//   - away_since  datetime  time since when a model has been unavailable; null: the last run had all answers
//   - retry_at    datetime  time of the next attempt after that; null: none is due
//   - now         datetime  server clock

OPTIONAL MATCH (c:Consolidation {tenant: $tenant, scope: $scope})
LET now = datetime.truncate('microsecond', datetime.realtime('Z'))
// A run cannot have ended in the future: the clock was set back, and what was recorded since is unknown.
LET since = CASE WHEN c.cursor <= now THEN c.cursor END
RETURN
  COUNT {
    MATCH (p:Episode)
    WHERE p.tenant = $tenant AND p.scope = $scope AND p.recorded_at <= now
  } AS episodes,
  COUNT {
    MATCH (p:Episode)
    WHERE p.tenant = $tenant AND p.scope = $scope AND p.recorded_at <= now
      AND (since IS NULL OR p.recorded_at > since)
  } AS fresh,
  since AS cursor,
  c.known AS open,
  coalesce(c.until > now, false) AS held,
  coalesce(c.failed, 0) AS failed,
  c.away_since AS away_since,
  CASE WHEN c.retry_at <= now + duration('PT1H') THEN c.retry_at WHEN c.retry_at IS NOT NULL THEN now END AS retry_at,
  now
