// Wait until no transaction holds the lock of the tenant, and return the id of the last one. If commit/lock returns the
// same id later, no other one held the lock meanwhile. Without waiting, a read may find a node that a transaction wrote
// before an index has it.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// columns:
//   - last_lock  string  id of the last committed transaction that held the lock, or null

MATCH (t:Tenant {tenant: $tenant})
SET t.locked_at = datetime.realtime('Z')
RETURN t.last_lock AS last_lock
