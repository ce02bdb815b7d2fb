// Find the texts of a tenant that match a regular expression, to be compared by the caller. Paged by id, one page per
// label. The query reads every node.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $prefilter  string  regular expression
//   $ended      map     by label, the last id of the previous page; null: the first page
// columns:
//   - label  string  node label
//   - last   string  last id of the page; null: no more pages
//   - nodes  list    maps of the matching nodes: id, scope, episodes (ids of those with which it goes), texts and documents (JSON)

MATCH (n:Memory) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Memory, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
RETURN 'Memory' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN n.content =~ $prefilter THEN {id: n.id, scope: n.scope, episodes: [], texts: [n.content], documents: []} END) AS nodes
UNION ALL
MATCH (n:Belief) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Belief, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
LET texts = [n.statement, n.subject, n.object]
RETURN 'Belief' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(text IN texts WHERE text =~ $prefilter) THEN {id: n.id, scope: n.scope, episodes: [], texts: texts, documents: []} END) AS nodes
UNION ALL
MATCH (n:Turn) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Turn, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
LET texts = [n.name, n.text]
RETURN 'Turn' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(text IN texts WHERE text =~ $prefilter) THEN {
         id: n.id,
         scope: COLLECT { MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant}) RETURN p.scope }[0],
         episodes: [n.episode_id], texts: texts, documents: []
       } END) AS nodes
UNION ALL
MATCH (n:Episode) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Episode, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
LET texts = [n.content, n.summary, n.gist] + coalesce(n.entities, [])
RETURN 'Episode' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(text IN texts WHERE text =~ $prefilter) THEN {id: n.id, scope: n.scope, episodes: [n.id], texts: texts, documents: []} END) AS nodes
UNION ALL
MATCH (n:Archive) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Archive, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
RETURN 'Archive' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN n.content =~ $prefilter THEN {id: n.id, scope: n.scope, episodes: [n.episode_id], texts: [n.content], documents: []} END) AS nodes
UNION ALL
MATCH (n:Event) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Event, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
RETURN 'Event' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN n.payload =~ $prefilter THEN {id: n.id, scope: n.scope, episodes: [], texts: [], documents: [n.payload]} END) AS nodes
UNION ALL
MATCH (n:Reply) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Reply, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
LET documents = [n.decided, n.raw]
RETURN 'Reply' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN any(text IN documents WHERE text =~ $prefilter) THEN {
         id: n.id, scope: n.scope,
         episodes: COLLECT { MATCH (n)-[:RESTS_ON]->(x:Episode|Turn {tenant: $tenant}) RETURN DISTINCT coalesce(x.episode_id, x.id) },
         texts: [], documents: documents
       } END) AS nodes
UNION ALL
MATCH (n:Item) WHERE n.tenant = $tenant AND n.id > coalesce($ended.Item, '') WITH n ORDER BY n.tenant, n.id LIMIT $limit
LET documents = [n.value]
RETURN 'Item' AS label, CASE count(n) WHEN $limit THEN max(n.id) END AS last,
       collect(CASE WHEN n.key =~ $prefilter OR n.value =~ $prefilter THEN {id: n.id, scope: n.scope, episodes: [], texts: [n.key], documents: documents} END) AS nodes
