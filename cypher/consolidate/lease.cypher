// Acquire or renew the lease for consolidating a scope. No row: another worker holds it. An interrupted run is resumed
// with its original snapshot time.
// mode: write
// rows: many
// plan: MergeUniqueNode
// params:
//   $owner    string   owner of the lease
//   $seconds  integer  lease duration in seconds
// columns:
//   - known    datetime  snapshot time of the run: events recorded later are ignored
//   - cursor   datetime  snapshot time of the last finished run; null: no run has finished
//   - resumed  boolean   whether the run was started by a worker that did not finish it

MERGE (c:Consolidation {tenant: $tenant, scope: $scope})
// Writing before reading takes the write lock, so only one of two workers finds the lease free.
SET c.asked_at = datetime.realtime('Z')
WITH c, datetime.truncate('microsecond', datetime.realtime('Z')) AS now
// A lease that would end after a new one was taken before the clock was set back: it ends when a new one would.
SET c.until = CASE WHEN c.until > now + duration({seconds: $seconds}) THEN now + duration({seconds: $seconds}) ELSE c.until END
WITH c, now
WHERE c.owner IS NULL OR c.owner = $owner OR c.until < now
WITH c, now, c.known IS NOT NULL AND coalesce(c.owner, '') <> $owner AS resumed
SET c.owner = $owner,
    c.until = now + duration({seconds: $seconds}),
    // Times in the future would hide what is recorded until then.
    c.known = CASE WHEN c.known <= now THEN c.known ELSE now END,
    c.cursor = CASE WHEN c.cursor <= now THEN c.cursor END
RETURN c.known AS known, c.cursor AS cursor, resumed
