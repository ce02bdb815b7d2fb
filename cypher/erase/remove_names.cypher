// Erase names without events, which declare them as aliases.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $names   list    names, folded
// columns:

UNWIND $names AS key
MATCH (n:Name {tenant: $tenant, key: key})
DETACH DELETE n
