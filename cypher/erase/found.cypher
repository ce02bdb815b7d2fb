// In which scope something to be erased stands.
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
//   - texts  list    what it says: content, statement, summary, text of a compressed one

MATCH (n:Memory|Belief|Episode {tenant: $tenant, id: $id})
WHERE $label IN labels(n) AND n.scope IN $scopes
RETURN n.scope AS scope, [x IN [n.content, n.statement, n.summary] WHERE x IS NOT NULL] AS texts
