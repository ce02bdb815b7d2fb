// List the background jobs of a tenant that a worker has run or is running.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// columns:
//   - job          string    name of the job
//   - running      boolean   whether a worker holds its lease
//   - finished_at  datetime  end of the last successful run; null: none
//   - due_at       datetime  when it is due again; null: its first run has not ended
//   - failures     integer   number of failed runs since the last successful one
//   - error        string    code of the error of the last run; null: none

MATCH (j:Job)
WHERE j.tenant = $tenant AND j.name IS NOT NULL
RETURN j.name AS job, coalesce(j.until >= datetime.realtime('Z'), false) AS running, j.finished_at AS finished_at,
       j.due_at AS due_at, coalesce(j.failures, 0) AS failures, j.error AS error
ORDER BY job
