// Bring the cached status of memories up to date.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $ids     list    of memories
// columns:

MATCH (m:Memory {tenant: $tenant})
WHERE m.id IN $ids
// include: fragments/refresh_status.cypher
