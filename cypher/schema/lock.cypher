// Take or renew the migration lock; no row when another owner holds it.
// mode: write
// rows: many
// plan: MergeUniqueNode
// params:
//   $owner    string   owner of the lease
//   $seconds  integer  until the lock expires by itself
// columns:
//   - owner   string   who holds it now

MERGE (lock:MigrationLock {key: 'migration'})
// Writing before looking takes the node's write lock, so two owners cannot both find it free.
SET lock.asked_at = datetime.realtime()
WITH lock
WHERE lock.owner IS NULL OR lock.owner = $owner OR lock.expires_at < datetime.realtime()
SET lock.owner = $owner,
    lock.expires_at = datetime.realtime() + duration({seconds: $seconds})
RETURN lock.owner AS owner
