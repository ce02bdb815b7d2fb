// Record the end of a long call; its arguments, which may contain texts, are removed.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $id        string  id of the operation
//   $owner     string  owner of the lease
//   $progress  string  JSON map of a kind to the number done
//   $outcome   string  `ok`, `cancelled`, or the code of the error
//   $result    string  counts of the result, JSON; null: it failed
// columns:

MATCH (u:JobUnit {tenant: $tenant, id: $id})
WHERE u.owner = $owner AND u.due_at IS NOT NULL
SET u.due_at = null,
    u.arguments = null,
    u.progress = $progress,
    u.outcome = $outcome,
    u.result = $result,
    u.finished_at = datetime.truncate('microsecond', datetime.realtime('Z'))
