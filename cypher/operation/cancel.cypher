// Ask for the end of a long call. One that never ran has then ended.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $id  string  id of the operation
// columns:

MATCH (u:JobUnit {tenant: $tenant, id: $id})
SET u.cancelled_at = coalesce(u.cancelled_at, datetime.truncate('microsecond', datetime.realtime('Z')))
WITH u
WHERE u.owner IS NULL AND u.outcome IS NULL
SET u.due_at = null,
    u.arguments = null,
    u.outcome = 'cancelled',
    u.finished_at = u.cancelled_at
