// Items under a namespace that are found by texts, the nearest to a question first: every text is compared.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant     string    tenant name
//   $scope      string    scope name
//   $prefix     string    the path of a namespace, labels each with a point behind it; '' is all
//   $embedding  list      of the question
//   $facets     list      every one must be among the item's: see rules/items.py facets
//   $valid      datetime  the instant of reading
//   $skip       integer   items to pass over
//   $limit      integer   items to return
// columns:
//   - id          string   id of the item
//   - namespace   list     its labels
//   - key         string   within the namespace
//   - value       string   JSON
//   - created_at  string   ISO
//   - updated_at  string   ISO
//   - fades       boolean  whether it expires unless it is read or written
//   - score       float    Neo4j's, in [0, 1], of its nearest text

MATCH (n:Namespace)
USING INDEX n:Namespace(tenant, scope, path)
WHERE n.tenant = $tenant AND n.scope = $scope AND n.path STARTS WITH $prefix
MATCH (n)<-[:STANDS_IN]-(i:Item {tenant: $tenant})
// include: fragments/item_lives.cypher
FILTER all(facet IN $facets WHERE facet IN i.facets)
MATCH (i)-[:FOUND_BY]->(t:ItemText {tenant: $tenant})
WHERE t.embedding IS NOT NULL
WITH n, i, max(vector.similarity.cosine(t.embedding, $embedding)) AS score
ORDER BY score DESC, n.begun, n.path, i.begun, i.id
SKIP $skip
LIMIT $limit
RETURN i.id AS id, n.parts AS namespace, i.key AS key, i.value AS value,
       toString(i.created_at) AS created_at, toString(i.updated_at) AS updated_at, i.ttl_minutes IS NOT NULL AS fades,
       score
