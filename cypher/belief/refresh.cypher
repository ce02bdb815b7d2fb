// Update the cached status of beliefs after new statements.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  belief ids
// columns:

MATCH (m:Belief {tenant: $tenant})
WHERE m.id IN $ids AND (
  m.status <> 'current' OR m.rulings IS NOT NULL OR EXISTS { (m)-[:SUPERSEDES]-(:Belief) }
  OR EXISTS { (m)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'ARCHIVE'}) }
)
// include: fragments/refresh_status.cypher
