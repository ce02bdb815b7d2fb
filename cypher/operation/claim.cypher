// Acquire the lease of the oldest long call of a tenant that no process runs. No row: there is none.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $owner    string   owner of the lease
//   $seconds  integer  lease duration in seconds
// columns:
//   - operation  map  properties of the call

MATCH (u:JobUnit)
WHERE u.tenant = $tenant AND u.id STARTS WITH 'op_'
LET now = datetime.realtime('Z')
// include: fragments/operation_due.cypher
WITH u ORDER BY u.asked_at, u.id LIMIT 1
// Writing before reading takes the write lock, so only one of two processes finds the lease free.
SET u.owner = coalesce(u.owner, '')
WITH u, datetime.truncate('microsecond', datetime.realtime('Z')) AS now
// include: fragments/operation_due.cypher
SET u.owner = $owner,
    u.served_at = coalesce(u.served_at, now),
    u.failures = coalesce(u.failures, -1) + 1,
    u.due_at = now + duration({seconds: $seconds})
RETURN properties(u) AS operation
