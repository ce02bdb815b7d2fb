// Bring the cached status of beliefs up to date after they were stated again.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $ids     list    of beliefs
// columns:

MATCH (m:Belief {tenant: $tenant})
WHERE m.id IN $ids AND (
  m.status <> 'current' OR EXISTS { (m)-[:SUPERSEDES]-(:Belief) }
  OR EXISTS { (m)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'ARCHIVE'}) }
)
// include: fragments/refresh_status.cypher
