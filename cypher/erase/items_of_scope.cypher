// List a batch of the memories, beliefs and episodes of a scope.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $scope  string   scope name
//   $limit  integer  maximum number of nodes of each label
// columns:
//   - memories  list  memory ids
//   - beliefs   list  belief ids
//   - episodes  list  episode ids

RETURN
  COLLECT {
    MATCH (m:Memory)
    WHERE m.tenant = $tenant AND m.id IS NOT NULL AND m.scope = $scope
    RETURN m.id LIMIT $limit
  } AS memories,
  COLLECT {
    MATCH (b:Belief)
    WHERE b.tenant = $tenant AND b.id IS NOT NULL AND b.scope = $scope
    RETURN b.id LIMIT $limit
  } AS beliefs,
  COLLECT {
    MATCH (p:Episode)
    WHERE p.tenant = $tenant AND p.id IS NOT NULL AND p.scope = $scope
    RETURN p.id LIMIT $limit
  } AS episodes
