// Acquire or renew the lease of a background job of a tenant. No row: another worker holds it, or it is not due.
// mode: write
// rows: many
// plan: MergeUniqueNode
// params:
//   $name     string   name of the job
//   $owner    string   owner of the lease
//   $seconds  integer  lease duration in seconds
// columns:
//   - failures  integer  number of failed runs since the last successful one

MERGE (j:Job {tenant: $tenant, name: $name})
// Writing before reading takes the write lock, so only one of two workers finds the lease free.
SET j.asked_at = datetime.realtime('Z')
// A lease that would end after a new one was taken before the clock was set back: it ends when a new one would.
WITH j, datetime.realtime('Z') AS now
SET j.until = CASE WHEN j.until > now + duration({seconds: $seconds}) THEN now + duration({seconds: $seconds}) ELSE j.until END
// A run that ended later than now shows that the clock was set back: its due time could be years ahead.
WITH j, now
WHERE j.owner = $owner OR ((j.owner IS NULL OR j.until < now) AND (j.due_at IS NULL OR j.due_at <= now OR j.served_at > now))
SET j.owner = $owner, j.until = now + duration({seconds: $seconds})
RETURN coalesce(j.failures, 0) AS failures
