// Return the scope and the texts of a node to be erased.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $scopes  list    read scopes
//   $label   string  Memory, Belief or Episode
//   $id      string  id of the node
// columns:
//   - scope  string  scope of the node
//   - texts  list    texts of the node: content, statement, summary, text of a compressed episode

MATCH (n:Memory|Belief|Episode {tenant: $tenant, id: $id})
WHERE $label IN labels(n) AND n.scope IN $scopes
RETURN n.scope AS scope, [x IN [n.content, n.statement, n.summary] WHERE x IS NOT NULL] AS texts
