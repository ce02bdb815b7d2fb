// Create or replace items. A replaced item keeps its creation time. Run it after item/lock_namespaces.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $items  list  maps: id, namespace_id, key, value (JSON), facets, place (in the batch), ttl_minutes and expires_at, or null

UNWIND $items AS row
MATCH (n:Namespace {tenant: $tenant, id: row.namespace_id})
MERGE (i:Item {tenant: $tenant, id: row.id})
// An expired item counts as deleted.
WITH row, n, i, coalesce(i.expires_at > $valid, i.created_at IS NOT NULL) AS lives
SET i.scope = $scope,
    i.key = row.key,
    i.value = row.value,
    i.facets = row.facets,
    i.created_at = CASE WHEN lives THEN i.created_at ELSE $valid END,
    i.updated_at = $valid,
    i.creation_order = CASE WHEN lives THEN i.creation_order ELSE [n.locked_at.epochSeconds * 1000000 + n.locked_at.microsecond, row.place] END,
    i.ttl_minutes = row.ttl_minutes,
    i.expires_at = row.expires_at
MERGE (i)-[:STANDS_IN]->(n)
WITH i
MATCH (i)-[:FOUND_BY]->(t:ItemText {tenant: $tenant})
DETACH DELETE t
