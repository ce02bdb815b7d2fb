// List the units of background jobs of a tenant whose last attempt failed, most often failed first.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// columns:
//   - job        string    name of the job
//   - scope      string    scope name
//   - unit       string    id of the session or item; '' for the scope as a whole
//   - code       string    code of the error
//   - reason     string    message of the error
//   - failures   integer   failed attempts since the last success
//   - failed_at  datetime  time of the last attempt
//   - due_at     datetime  time of the next attempt

MATCH (u:JobUnit)
WHERE u.tenant = $tenant AND u.id > '' AND u.error IS NOT NULL
RETURN u.job AS job, u.scope AS scope, u.unit AS unit, u.error AS code, u.reason AS reason, u.failures AS failures,
       u.served_at AS failed_at, u.due_at AS due_at
ORDER BY failures DESC, u.id
