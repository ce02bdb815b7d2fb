// Record attempts of units of a background job: the failure and when the next attempt is due, or the success. Of units
// that succeeded, only whole scopes are kept, for their order.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $name   string  name of the job
//   $units  list    maps: id, scope, unit, error and reason (null: it succeeded), wait_s (seconds until the next attempt)
// columns:

UNWIND $units AS row
MERGE (u:JobUnit {tenant: $tenant, id: row.id})
LET now = datetime.truncate('microsecond', datetime.realtime('Z'))
SET u.job = $name,
    u.scope = row.scope,
    u.unit = row.unit,
    u.served_at = now,
    u.error = row.error,
    u.reason = row.reason,
    u.failures = CASE WHEN row.error IS NULL THEN 0 ELSE coalesce(u.failures, 0) + 1 END,
    u.due_at = CASE WHEN row.error IS NOT NULL THEN now + duration({milliseconds: toInteger(row.wait_s * 1000)}) END
WITH u, row
WHERE row.error IS NULL AND row.unit <> ''
DETACH DELETE u
