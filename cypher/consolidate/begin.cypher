// Begin with one cluster: hold its name and renew the lease until the transaction ends. No row when the lease was lost.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant   string   tenant name
//   $scope    string   scope name
//   $owner    string   who holds the lease
//   $seconds  integer  until the lease expires by itself
//   $id       string   of the reply
// columns:
//   - done  boolean  another run has seen to it

MATCH (c:Consolidation {tenant: $tenant, scope: $scope})
SET c.asked_at = datetime.realtime('Z')
WITH c
WHERE c.owner = $owner
SET c.until = datetime.realtime('Z') + duration({seconds: $seconds})
MERGE (r:Reply {tenant: $tenant, id: $id})
ON CREATE SET r.scope = $scope, r.attempts = 0, r.done = false
RETURN r.done AS done
