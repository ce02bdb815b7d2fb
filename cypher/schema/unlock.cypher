// Give the migration lock back if this owner still holds it.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $owner  string  who held it
// columns:

MATCH (lock:MigrationLock {key: 'migration'})
WHERE lock.owner = $owner
REMOVE lock.owner, lock.expires_at
