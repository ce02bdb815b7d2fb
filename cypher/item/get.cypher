// Items by their ids, as far as they are there and have not expired.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string    tenant name
//   $scope   string    scope name
//   $ids     list      of items: see rules/items.py item_id
//   $valid   datetime  the instant of reading
// columns:
//   - id          string   id of the item
//   - namespace   list     its labels
//   - key         string   within the namespace
//   - value       string   JSON
//   - created_at  string   ISO
//   - updated_at  string   ISO
//   - fades       boolean  whether it expires unless it is read or written

UNWIND $ids AS id
MATCH (i:Item {tenant: $tenant, id: id})-[:STANDS_IN]->(n:Namespace {tenant: $tenant})
FILTER i.scope = $scope
// include: fragments/item_lives.cypher
RETURN i.id AS id, n.parts AS namespace, i.key AS key, i.value AS value,
       toString(i.created_at) AS created_at, toString(i.updated_at) AS updated_at, i.ttl_minutes IS NOT NULL AS fades
