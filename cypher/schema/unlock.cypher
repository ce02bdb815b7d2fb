// Release the migration lease if this process still holds it.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $owner  string  process that acquired the lease
// columns:

MATCH (lock:MigrationLock {key: 'migration'})
WHERE lock.owner = $owner
REMOVE lock.owner, lock.since, lock.expires_at
