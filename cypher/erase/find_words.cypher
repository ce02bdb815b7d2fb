// Find the nodes with a token that matches and a text that matches a regular expression, to be compared by the caller.
// mode: read
// rows: one
// params:
//   $tokens     string   full-text query of tokens
//   $prefilter  string   regular expression
//   $limit      integer  maximum number of nodes with a matching token
// columns:
//   - number  integer  number of nodes with a matching token, at most the limit
//   - nodes   list     maps of the matching nodes: label, id, scope, episodes (ids of those with which it goes), texts and documents (JSON)

CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()
CALL db.index.fulltext.queryNodes('event_payload_fulltext', $tokens) YIELD node AS n
FILTER n.tenant = $tenant
WITH n LIMIT $limit
LET texts = [x IN [n.content, n.statement, n.subject, n.object, n.name, n.text, n.summary, n.gist, n.key] + coalesce(n.entities, []) WHERE x IS NOT NULL],
    documents = [x IN [n.payload, n.decided, n.raw, n.value] WHERE x IS NOT NULL]
RETURN count(n) AS number,
       collect(CASE WHEN any(text IN texts + documents WHERE text =~ $prefilter) THEN {
         label: labels(n)[0], id: n.id,
         scope: CASE WHEN n:Turn THEN COLLECT { MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant}) RETURN p.scope }[0] ELSE n.scope END,
         episodes: CASE
           WHEN n:Episode THEN [n.id]
           WHEN n:Turn OR n:Archive THEN [n.episode_id]
           WHEN n:Reply THEN COLLECT { MATCH (n)-[:RESTS_ON]->(x:Episode|Turn {tenant: $tenant}) RETURN DISTINCT coalesce(x.episode_id, x.id) }
           ELSE []
         END,
         texts: texts, documents: documents
       } END) AS nodes
