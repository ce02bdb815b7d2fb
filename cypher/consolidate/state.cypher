// Return the consolidation state of a scope. Counts its episodes and the new ones, and reports a run in progress.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $scope   string  scope name
// columns:
//   - episodes  integer   number of episodes in the scope
//   - fresh     integer   number of episodes recorded after the snapshot of the last finished run
//   - cursor    datetime  snapshot time of the last finished run; null: no run has finished
//   - open      datetime  snapshot time of a running or interrupted run; null: none
//   - held      boolean   whether a worker holds the lease
//   - now       datetime  server clock

OPTIONAL MATCH (c:Consolidation {tenant: $tenant, scope: $scope})
LET now = datetime.truncate('microsecond', datetime.realtime('Z')), since = c.cursor
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
  now
