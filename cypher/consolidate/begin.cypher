// Begin work on one cluster. Locks its reply and renews the lease until the transaction ends. No row: the lease was
// lost.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $owner    string   owner of the lease
//   $seconds  integer  lease duration in seconds
//   $id       string   reply id
// columns:
//   - done  boolean  whether another run has completed it

MATCH (c:Consolidation {tenant: $tenant, scope: $scope})
SET c.asked_at = datetime.realtime('Z')
WITH c
WHERE c.owner = $owner
SET c.until = datetime.realtime('Z') + duration({seconds: $seconds})
MERGE (r:Reply {tenant: $tenant, id: $id})
ON CREATE SET r.scope = $scope, r.attempts = 0, r.done = false
RETURN r.done AS done
