// List what a background job remembers of its units of work in a tenant: each scope that it served, and each unit whose
// last attempt failed.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $name  string  name of the job
// columns:
//   - scope      string    scope name
//   - unit       string    id of the session or item; '' for the scope as a whole
//   - served_at  datetime  time of the last attempt
//   - failures   integer   failed attempts since the last success
//   - waiting    boolean   whether the next attempt is not due yet

MATCH (u:JobUnit)
WHERE u.tenant = $tenant AND u.id > '' AND u.job = $name
LET now = datetime.realtime('Z')
RETURN u.scope AS scope, u.unit AS unit, u.served_at AS served_at, u.failures AS failures,
       // As in upkeep/claim_job, a time of the last attempt later than now shows that the clock was set back.
       coalesce(u.due_at > now AND u.served_at <= now, false) AS waiting
