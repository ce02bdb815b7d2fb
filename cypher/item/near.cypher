// Search the vector index for items under a namespace, nearest first.
// mode: read
// rows: many
// plan: NodeVectorIndexSearch
// params:
//   $scope      string    scope name
//   $low        string    lower bound of namespace paths, inclusive
//   $high       string    upper bound of namespace paths, exclusive
//   $embedding  list      embedding of the question
//   $facets     list      required facets of the items, all must match: see items/rules.py facets
//   $valid      datetime  time of the read
//   $pool       integer   number of texts to request from the index
// columns:
//   - id          string   id of the item
//   - namespace   list     labels of the namespace
//   - key         string   key within the namespace
//   - value       string   JSON
//   - created_at  string   ISO 8601
//   - updated_at  string   ISO 8601
//   - fades       boolean  whether the item expires unless it is read or written
//   - score       float    Neo4j's score of the nearest text, in [0, 1]

MATCH (t:ItemText)
SEARCH t IN (
  VECTOR INDEX item_text_embedding_vector
  FOR $embedding
  WHERE t.tenant = $tenant AND t.scope = $scope AND t.path >= $low AND t.path < $high
  LIMIT $pool
) SCORE AS found
MATCH (t)<-[:FOUND_BY]-(i:Item {tenant: $tenant})
// include: fragments/item_not_expired.cypher
FILTER all(facet IN $facets WHERE facet IN i.facets)
MATCH (i)-[:STANDS_IN]->(n:Namespace {tenant: $tenant})
WITH n, i, max(found) AS score
ORDER BY score DESC, n.creation_order, n.path, i.creation_order, i.id
LIMIT $limit
RETURN i.id AS id, n.parts AS namespace, i.key AS key, i.value AS value,
       toString(i.created_at) AS created_at, toString(i.updated_at) AS updated_at, i.ttl_minutes IS NOT NULL AS fades,
       score
