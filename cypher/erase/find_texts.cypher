// Find nodes of a tenant that contain one of the given texts. Paged by id, one page per label. The query reads every
// node.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string   tenant name
//   $texts   list     texts to find, matched exactly
//   $ended   map      by label, the last id of the previous page; null: the first page
//   $limit   integer  maximum number of nodes per page
// columns:
//   - label  string  node label
//   - last   string  last id of the page; null: no more pages
//   - ids    list    ids of the matching nodes

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
