// Erase a batch of the nodes of a scope or a tenant, except events.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $scope  string   scope name; null: the whole tenant
//   $limit  integer  maximum number of nodes per label
// columns:
//   - removed  integer  number of nodes erased

CALL () {
  MATCH (n:Memory) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Belief) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Episode) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Turn) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Artifact) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Archive) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Reply) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Rating) WHERE n.tenant = $tenant AND n.kind IS NOT NULL AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Consolidation) WHERE n.tenant = $tenant AND n.scope IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Namespace) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Name) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Predicate) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Rejection) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (i:Item) WHERE i.tenant = $tenant AND i.id IS NOT NULL AND ($scope IS NULL OR i.scope = $scope)
  WITH i ORDER BY i.tenant, i.id LIMIT $limit
  MATCH (i)-[:FOUND_BY]->(n:ItemText)
  RETURN n
UNION ALL
  MATCH (n:Item) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope)
  WITH n ORDER BY n.tenant, n.id LIMIT $limit
  RETURN n
UNION ALL
  MATCH (n:Checkpoint) WHERE n.tenant = $tenant AND n.slot_id IS NOT NULL AND $scope IS NULL RETURN n LIMIT $limit
UNION ALL
  MATCH (n:NameLock) WHERE n.tenant = $tenant AND n.key IS NOT NULL AND $scope IS NULL RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Job) WHERE n.tenant = $tenant AND n.name IS NOT NULL AND $scope IS NULL RETURN n LIMIT $limit
UNION ALL
  MATCH (n:JobUnit) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Rater) WHERE n.tenant = $tenant AND $scope IS NULL RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Seal) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND $scope IS NULL RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Tenant) WHERE n.tenant = $tenant AND $scope IS NULL RETURN n LIMIT $limit
}
CALL (n) {
  DETACH DELETE n
}
RETURN count(*) AS removed
