// Update the cached status of memories.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  memory ids
// columns:

MATCH (m:Memory {tenant: $tenant})
WHERE m.id IN $ids
// include: fragments/refresh_status.cypher
