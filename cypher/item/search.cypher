// List the items under a namespace, in the order of creation of namespaces and of items in each.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scope      string    scope name
//   $prefix     string    namespace path: each label followed by a point; '' matches all
//   $facets     list      required facets of the items, all must match: see items/rules.py facets
//   $unindexed  boolean   return only items without texts
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

MATCH (n:Namespace)
USING INDEX n:Namespace(tenant, scope, path)
WHERE n.tenant = $tenant AND n.scope = $scope AND n.path STARTS WITH $prefix
MATCH (n)<-[:STANDS_IN]-(i:Item {tenant: $tenant})
// include: fragments/item_not_expired.cypher
FILTER all(facet IN $facets WHERE facet IN i.facets)
  AND (NOT $unindexed OR NOT EXISTS { (i)-[:FOUND_BY]->(:ItemText {tenant: $tenant}) })
WITH n, i
ORDER BY n.creation_order, n.path, i.creation_order, i.id
SKIP $skip
LIMIT $limit
RETURN i.id AS id, n.parts AS namespace, i.key AS key, i.value AS value,
       toString(i.created_at) AS created_at, toString(i.updated_at) AS updated_at, i.ttl_minutes IS NOT NULL AS fades
