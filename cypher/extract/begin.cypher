// Begin with one window of turns: hold its name until the transaction ends.
// mode: write
// rows: one
// plan: MergeUniqueNode
// params:
//   $tenant  string  tenant name
//   $scope   string  scope name
//   $id      string  of the reply
// columns:
//   - done  boolean  another worker has seen to it

MERGE (r:Reply {tenant: $tenant, id: $id})
ON CREATE SET r.scope = $scope, r.kind = 'extraction', r.attempts = 0, r.done = false
// Written before it is looked at, so that of two workers one waits for the other.
SET r.locked_at = datetime.realtime('Z')
RETURN r.done AS done
