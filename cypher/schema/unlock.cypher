// Release the migration lock if this owner still holds it.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $owner  string  owner of the lock
// columns:

MATCH (lock:MigrationLock {key: 'migration'})
WHERE lock.owner = $owner
REMOVE lock.owner, lock.expires_at
