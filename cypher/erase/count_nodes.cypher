// Count the nodes of each label in a tenant or a scope.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $scope  string  scope name; null: the whole tenant
// columns:
//   - counts  map  counts by label

RETURN {
  Event: COUNT { MATCH (n:Event) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Memory: COUNT { MATCH (n:Memory) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Belief: COUNT { MATCH (n:Belief) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Episode: COUNT { MATCH (n:Episode) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Turn: COUNT { MATCH (n:Turn) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Artifact: COUNT { MATCH (n:Artifact) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Archive: COUNT { MATCH (n:Archive) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Reply: COUNT { MATCH (n:Reply) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Rating: COUNT { MATCH (n:Rating) WHERE n.tenant = $tenant AND n.kind IS NOT NULL AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Consolidation: COUNT { MATCH (n:Consolidation) WHERE n.tenant = $tenant AND n.scope IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Namespace: COUNT { MATCH (n:Namespace) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Item: COUNT { MATCH (n:Item) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Name: COUNT { MATCH (n:Name) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Predicate: COUNT { MATCH (n:Predicate) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Rejection: COUNT { MATCH (n:Rejection) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  ItemText: COUNT { MATCH (n:Item)-[:FOUND_BY]->(:ItemText) USING INDEX n:Item(tenant, id) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Checkpoint: COUNT { MATCH (n:Checkpoint) WHERE n.tenant = $tenant AND n.slot_id IS NOT NULL AND $scope IS NULL },
  NameLock: COUNT { MATCH (n:NameLock) WHERE n.tenant = $tenant AND n.key IS NOT NULL AND $scope IS NULL },
  Job: COUNT { MATCH (n:Job) WHERE n.tenant = $tenant AND n.name IS NOT NULL AND $scope IS NULL },
  JobUnit: COUNT { MATCH (n:JobUnit) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) },
  Rater: COUNT { MATCH (n:Rater) WHERE n.tenant = $tenant AND n.tenant IS NOT NULL AND $scope IS NULL },
  Seal: COUNT { MATCH (n:Seal) WHERE n.tenant = $tenant AND n.id IS NOT NULL AND $scope IS NULL },
  Tenant: COUNT { MATCH (n:Tenant) WHERE n.tenant = $tenant AND n.tenant IS NOT NULL AND $scope IS NULL }
} AS counts
