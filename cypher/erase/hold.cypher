// Lock memories and beliefs that are about to be erased. Who is writing an edge to one commits before this returns, and is seen by the
// queries after it; who comes later waits, and finds nothing.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $ids     list    of memories and beliefs
// columns:

UNWIND $ids AS id
MATCH (n:Memory|Belief {tenant: $tenant, id: id})
SET n.scope = n.scope
