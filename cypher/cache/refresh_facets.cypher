// Update the cached search facets of memories.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $memories  list  maps: id, sources, facet_keys
// columns:

UNWIND $memories AS row
MATCH (m:Memory {tenant: $tenant, id: row.id})
SET m.sources = row.sources, m.facet_keys = row.facet_keys
