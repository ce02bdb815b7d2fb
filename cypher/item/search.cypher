// Items under a namespace in the order in which namespaces and, in each, items were begun.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant     string    tenant name
//   $scope      string    scope name
//   $prefix     string    the path of a namespace, labels each with a point behind it; '' is all
//   $facets     list      every one must be among the item's: see rules/items.py facets
//   $unindexed  boolean   only items that no text is found by
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

MATCH (n:Namespace)
USING INDEX n:Namespace(tenant, scope, path)
WHERE n.tenant = $tenant AND n.scope = $scope AND n.path STARTS WITH $prefix
MATCH (n)<-[:STANDS_IN]-(i:Item {tenant: $tenant})
// include: fragments/item_lives.cypher
FILTER all(facet IN $facets WHERE facet IN i.facets)
  AND (NOT $unindexed OR NOT EXISTS { (i)-[:FOUND_BY]->(:ItemText {tenant: $tenant}) })
WITH n, i
ORDER BY n.begun, n.path, i.begun, i.id
SKIP $skip
LIMIT $limit
RETURN i.id AS id, n.parts AS namespace, i.key AS key, i.value AS value,
       toString(i.created_at) AS created_at, toString(i.updated_at) AS updated_at, i.ttl_minutes IS NOT NULL AS fades
