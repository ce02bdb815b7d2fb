// Begin work on one window of turns. Locks its reply until the transaction ends.
// mode: write
// rows: one
// plan: MergeUniqueNode
// params:
//   $id  string  reply id
// columns:
//   - done  boolean  whether another worker has completed it

MERGE (r:Reply {tenant: $tenant, id: $id})
ON CREATE SET r.scope = $scope, r.kind = 'extraction', r.attempts = 0, r.done = false
// Writing before reading takes the write lock, so of two workers one waits for the other.
SET r.locked_at = datetime.realtime('Z')
RETURN r.done AS done
