// Find nodes in all scopes whose text names a person, and turns by the person. The query reads every node.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant   string  tenant name
//   $names    list    names of the person, folded
//   $pattern  string  regular expression that matches a text in lower case with one of the names
// columns:
//   - label    string  node label
//   - id       string  id of the node
//   - scope    string  scope of the node
//   - episode  string  id of the episode of a turn; else null

MATCH (n:Memory) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND toLower(n.content) =~ $pattern
RETURN 'Memory' AS label, n.id AS id, n.scope AS scope, null AS episode
UNION ALL
MATCH (n:Belief) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND toLower(n.statement) =~ $pattern
RETURN 'Belief' AS label, n.id AS id, n.scope AS scope, null AS episode
UNION ALL
MATCH (n:Turn) WHERE n.tenant = $tenant AND n.id IS NOT NULL
  AND (toLower(n.name) IN $names OR toLower(n.text) =~ $pattern)
MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
RETURN 'Turn' AS label, n.id AS id, p.scope AS scope, p.id AS episode
UNION ALL
MATCH (n:Episode) WHERE n.tenant = $tenant AND n.id IS NOT NULL
  AND any(text IN [n.content, n.summary, n.gist] WHERE toLower(text) =~ $pattern)
RETURN 'Episode' AS label, n.id AS id, n.scope AS scope, null AS episode
UNION ALL
MATCH (n:Event) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND toLower(n.payload) =~ $pattern
RETURN 'Event' AS label, n.id AS id, n.scope AS scope, null AS episode
UNION ALL
MATCH (n:Item) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND toLower(n.value) =~ $pattern
RETURN 'Item' AS label, n.id AS id, n.scope AS scope, null AS episode
