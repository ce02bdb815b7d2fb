// Return items by id. Missing and expired items are left out.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $scope  string  scope name
//   $ids    list    item ids: see items/rules.py item_id
// columns:
//   - id          string   id of the item
//   - namespace   list     labels of the namespace
//   - key         string   key within the namespace
//   - value       string   JSON
//   - created_at  string   ISO 8601
//   - updated_at  string   ISO 8601
//   - fades       boolean  whether the item expires unless it is read or written

UNWIND $ids AS id
MATCH (i:Item {tenant: $tenant, id: id})-[:STANDS_IN]->(n:Namespace {tenant: $tenant})
FILTER i.scope = $scope
// include: fragments/item_not_expired.cypher
RETURN i.id AS id, n.parts AS namespace, i.key AS key, i.value AS value,
       toString(i.created_at) AS created_at, toString(i.updated_at) AS updated_at, i.ttl_minutes IS NOT NULL AS fades
