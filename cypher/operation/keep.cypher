// Extend the lease of a long call and record its progress. No row: another process has it, or it ended.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $id        string   id of the operation
//   $owner     string   owner of the lease
//   $progress  string   JSON map of a kind to the number done
//   $seconds   integer  seconds until another process may take it
// columns:
//   - cancelled  boolean  whether a client wants it to end

MATCH (u:JobUnit {tenant: $tenant, id: $id})
WHERE u.owner = $owner AND u.due_at IS NOT NULL
SET u.progress = $progress,
    u.due_at = datetime.truncate('microsecond', datetime.realtime('Z')) + duration({seconds: $seconds})
RETURN u.cancelled_at IS NOT NULL AS cancelled
