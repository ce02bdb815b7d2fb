// Items under a namespace that the vector index finds nearest to a question, nearest first.
// mode: read
// rows: many
// plan: NodeVectorIndexSearch
// params:
//   $tenant     string    tenant name
//   $scope      string    scope name
//   $low        string    least path of a namespace
//   $high       string    the first path behind the last one
//   $embedding  list      of the question
//   $facets     list      every one must be among the item's: see rules/items.py facets
//   $valid      datetime  the instant of reading
//   $pool       integer   texts to ask the index for
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

MATCH (t:ItemText)
SEARCH t IN (
  VECTOR INDEX item_text_embedding_vector
  FOR $embedding
  WHERE t.tenant = $tenant AND t.scope = $scope AND t.path >= $low AND t.path < $high
  LIMIT $pool
) SCORE AS found
MATCH (t)<-[:FOUND_BY]-(i:Item {tenant: $tenant})
// include: fragments/item_lives.cypher
FILTER all(facet IN $facets WHERE facet IN i.facets)
MATCH (i)-[:STANDS_IN]->(n:Namespace {tenant: $tenant})
WITH n, i, max(found) AS score
ORDER BY score DESC, n.begun, n.path, i.begun, i.id
LIMIT $limit
RETURN i.id AS id, n.parts AS namespace, i.key AS key, i.value AS value,
       toString(i.created_at) AS created_at, toString(i.updated_at) AS updated_at, i.ttl_minutes IS NOT NULL AS fades,
       score
