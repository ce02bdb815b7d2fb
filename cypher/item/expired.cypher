// List expired items, longest ago first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scope  string  scope name
// columns:
//   - id            string  id of the item
//   - namespace_id  string  id of the namespace

MATCH (i:Item)
USING INDEX i:Item(tenant, scope, expires_at)
WHERE i.tenant = $tenant AND i.scope = $scope AND i.expires_at <= $valid
WITH i
ORDER BY i.expires_at, i.id
LIMIT $limit
MATCH (i)-[:STANDS_IN]->(n:Namespace {tenant: $tenant})
RETURN i.id AS id, n.id AS namespace_id
