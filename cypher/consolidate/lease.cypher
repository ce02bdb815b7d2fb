// Take or renew the right to consolidate a scope; no row when another worker holds it. An interrupted run is gone on with: what it
// sees stays what it saw.
// mode: write
// rows: many
// plan: MergeUniqueNode
// params:
//   $tenant   string   tenant name
//   $scope    string   scope name
//   $owner    string   who asks
//   $seconds  integer  until the lease expires by itself
// columns:
//   - known    datetime  what was recorded later is not seen by this run
//   - cursor   datetime  what the last finished run had seen; null: none has finished
//   - resumed  boolean   the run was begun by a worker that did not finish it

MERGE (c:Consolidation {tenant: $tenant, scope: $scope})
// Writing before looking takes the node's write lock, so two workers cannot both find it free.
SET c.asked_at = datetime.realtime('Z')
WITH c
WHERE c.owner IS NULL OR c.owner = $owner OR c.until < datetime.realtime('Z')
WITH c, c.known IS NOT NULL AND coalesce(c.owner, '') <> $owner AS resumed
SET c.owner = $owner,
    c.until = datetime.realtime('Z') + duration({seconds: $seconds}),
    c.known = coalesce(c.known, datetime.truncate('microsecond', datetime.realtime('Z')))
RETURN c.known AS known, c.cursor AS cursor, resumed
