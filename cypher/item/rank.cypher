// Rank the items under a namespace by their texts, nearest first. The query compares every text.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scope      string    scope name
//   $prefix     string    namespace path: each label followed by a point; '' matches all
//   $embedding  list      embedding of the question
//   $facets     list      required facets of the items, all must match: see items/rules.py facets
//   $valid      datetime  time of the read
//   $skip       integer   number of items to skip
// columns:
//   - id          string   id of the item
//   - namespace   list     labels of the namespace
//   - key         string   key within the namespace
//   - value       string   JSON
//   - created_at  string   ISO 8601
//   - updated_at  string   ISO 8601
//   - fades       boolean  whether the item expires unless it is read or written
//   - score       float    Neo4j's score of the nearest text, in [0, 1]

MATCH (n:Namespace)
USING INDEX n:Namespace(tenant, scope, path)
WHERE n.tenant = $tenant AND n.scope = $scope AND n.path STARTS WITH $prefix
MATCH (n)<-[:STANDS_IN]-(i:Item {tenant: $tenant})
// include: fragments/item_not_expired.cypher
FILTER all(facet IN $facets WHERE facet IN i.facets)
MATCH (i)-[:FOUND_BY]->(t:ItemText {tenant: $tenant})
WHERE t.embedding IS NOT NULL
WITH n, i, max(vector.similarity.cosine(t.embedding, $embedding)) AS score
ORDER BY score DESC, n.creation_order, n.path, i.creation_order, i.id
SKIP $skip
LIMIT $limit
RETURN i.id AS id, n.parts AS namespace, i.key AS key, i.value AS value,
       toString(i.created_at) AS created_at, toString(i.updated_at) AS updated_at, i.ttl_minutes IS NOT NULL AS fades,
       score
