// Erase names without events, which declare them as aliases.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  ids of names
// columns:

UNWIND $ids AS id
MATCH (n:Name {tenant: $tenant, id: id})
DETACH DELETE n
