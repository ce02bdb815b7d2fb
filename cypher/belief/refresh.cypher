// Bring the cached status of beliefs up to date after they were stated again.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  whose
//   $ids     list    of beliefs
// columns:

MATCH (m:Belief {tenant: $tenant})
WHERE m.id IN $ids AND EXISTS { (m)-[:SUPERSEDES]-(:Belief) }
// include: fragments/refresh_status.cypher
