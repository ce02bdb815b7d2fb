// Count the pieces of evidence that still count for a current belief. Run it after commit/lock, so that no retraction or
// rejection is missed.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  event ids
// columns:
//   - standing  integer  number of events

UNWIND $ids AS id
MATCH (e:Event {tenant: $tenant, id: id})
WHERE NOT EXISTS { (e)<-[:RETRACTS]-(:Event {tenant: $tenant}) }
  AND EXISTS { (e)-[:SUPPORTS {tenant: $tenant}]->(b:Belief {tenant: $tenant, status: 'current'}) WHERE b.rejected IS NULL }
RETURN count(e) AS standing
