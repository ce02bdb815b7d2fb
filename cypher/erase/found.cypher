// In which scope something to be erased stands.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  whose
//   $scopes  list    scopes the reader can see
//   $label   string  Memory, Belief or Episode
//   $id      string  of it
// columns:
//   - scope  string  of it
//   - texts  list    what it says: content, statement, summary, text of a compressed one

MATCH (n:Memory|Belief|Episode {tenant: $tenant, id: $id})
WHERE $label IN labels(n) AND n.scope IN $scopes
RETURN n.scope AS scope, [x IN [n.content, n.statement, n.summary] WHERE x IS NOT NULL] AS texts
