// Lock memories and beliefs that are about to be erased. Writers that are adding an edge to one commit before this
// query returns, and later queries see their edge. Later writers wait and no longer find the node.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  ids of memories and beliefs
// columns:

UNWIND $ids AS id
MATCH (n:Memory|Belief {tenant: $tenant, id: id})
SET n.scope = n.scope
