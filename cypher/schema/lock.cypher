// Acquire or renew the migration lock. No row: another owner holds it.
// mode: write
// rows: many
// plan: MergeUniqueNode
// params:
//   $owner    string   owner of the lease
//   $seconds  integer  lock duration in seconds
// columns:
//   - owner  string  owner of the lock

MERGE (lock:MigrationLock {key: 'migration'})
// Writing before reading takes the write lock, so only one of two owners finds the lock free.
SET lock.asked_at = datetime.realtime()
WITH lock
WHERE lock.owner IS NULL OR lock.owner = $owner OR lock.expires_at < datetime.realtime()
SET lock.owner = $owner,
    lock.expires_at = datetime.realtime() + duration({seconds: $seconds})
RETURN lock.owner AS owner
