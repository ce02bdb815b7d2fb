// Nodes of a tenant that hold one of some texts: of each kind a page, by id. Every node is looked at.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string   tenant name
//   $texts   list     to look for, word for word
//   $ended   map      by label, the id that the last page ended at; null: the first page of each
//   $limit   integer  nodes of a page
// columns:
//   - label  string  a kind of nodes
//   - last   string  the id that its page ended at; null: it was the last one
//   - ids    list    of those that hold one

MATCH (n:Memory) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Memory, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
RETURN 'Memory' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(x IN $texts WHERE n.content CONTAINS x) THEN n.id END) AS ids
UNION ALL
MATCH (n:Belief) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Belief, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
RETURN 'Belief' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(x IN $texts WHERE n.statement CONTAINS x) THEN n.id END) AS ids
UNION ALL
MATCH (n:Turn) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Turn, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
RETURN 'Turn' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(x IN $texts WHERE n.text CONTAINS x) THEN n.id END) AS ids
UNION ALL
MATCH (n:Episode) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Episode, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
RETURN 'Episode' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(x IN $texts WHERE n.content CONTAINS x OR n.summary CONTAINS x OR n.gist CONTAINS x) THEN n.id END) AS ids
UNION ALL
MATCH (n:Archive) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Archive, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
RETURN 'Archive' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(x IN $texts WHERE n.content CONTAINS x) THEN n.id END) AS ids
UNION ALL
MATCH (n:Event) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Event, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
RETURN 'Event' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(x IN $texts WHERE n.payload CONTAINS x) THEN n.id END) AS ids
UNION ALL
MATCH (n:Reply) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Reply, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
RETURN 'Reply' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(x IN $texts WHERE n.decided CONTAINS x OR n.raw CONTAINS x) THEN n.id END) AS ids
UNION ALL
MATCH (n:Item) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Item, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
RETURN 'Item' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(x IN $texts WHERE n.value CONTAINS x) THEN n.id END) AS ids
