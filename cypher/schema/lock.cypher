// Acquire or renew the migration lease, and return its holder, which may be another process.
// mode: write
// rows: one
// plan: MergeUniqueNode
// params:
//   $owner    string   process that asks for the lease
//   $seconds  integer  lease duration in seconds
// columns:
//   - owner       string    process that holds the lease
//   - since       datetime  when it acquired the lease
//   - expires_at  datetime  when the lease ends unless it is renewed

MERGE (lock:MigrationLock {key: 'migration'})
// Writing before reading takes the write lock, so only one of two processes finds the lease free.
SET lock.asked_at = datetime.realtime('Z')
WITH lock, datetime.realtime('Z') AS now
// A lease that would end after a new one was taken before the clock was set back: it ends when a new one would.
SET lock.expires_at = CASE
  WHEN lock.expires_at > now + duration({seconds: $seconds}) THEN now + duration({seconds: $seconds}) ELSE lock.expires_at END
WITH lock, now, lock.owner IS NULL OR lock.owner = $owner OR lock.expires_at < now AS free
SET lock.since = CASE WHEN NOT free OR lock.owner = $owner THEN lock.since ELSE now END,
    lock.expires_at = CASE WHEN free THEN now + duration({seconds: $seconds}) ELSE lock.expires_at END
SET lock.owner = CASE WHEN free THEN $owner ELSE lock.owner END
RETURN lock.owner AS owner, lock.since AS since, lock.expires_at AS expires_at
