// Release the lease of a background job, and record its outcome and when it is due again.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $name    string  name of the job
//   $owner   string  owner of the lease
//   $error   string  code of the error that ended the run; null: it succeeded
//   $wait_s  float   seconds until it is due again
// columns:

MATCH (j:Job {tenant: $tenant, name: $name})
WHERE j.owner = $owner
LET now = datetime.truncate('microsecond', datetime.realtime('Z'))
SET j.owner = null,
    j.until = null,
    j.due_at = now + duration({milliseconds: toInteger($wait_s * 1000)}),
    j.error = $error,
    j.served_at = now,
    j.failures = CASE WHEN $error IS NULL THEN 0 ELSE coalesce(j.failures, 0) + 1 END,
    j.finished_at = CASE WHEN $error IS NULL THEN now ELSE j.finished_at END
