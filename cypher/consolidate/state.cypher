// How a scope stands with consolidation: how many episodes it has, how many are new, and whether a run is under way.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string   tenant name
//   $scope   string   scope name
// columns:
//   - episodes  integer   in the scope
//   - fresh     integer   of these, recorded after what the last finished run had seen
//   - cursor    datetime  what the last finished run had seen; null: none has finished
//   - open      datetime  what the run under way, or an interrupted one, sees; null: none
//   - held      boolean   a worker holds the lease
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
