// List the events of a scope or a tenant, and the nodes of other scopes they refer to. Paged by id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $scope  string  scope name; null: the whole tenant
//   $after  string  id of the last row of the previous page; '' for the first page
// columns:
//   - id        string  event id
//   - memories  list    ids of memories of other scopes that the event refers to
//   - beliefs   list    ids of remaining beliefs that the event refers to

MATCH (e:Event)
WHERE e.tenant = $tenant AND e.id > $after AND ($scope IS NULL OR e.scope = $scope)
WITH e
ORDER BY e.tenant, e.id
LIMIT $limit
RETURN e.id AS id,
       [(e)-[:REINFORCES|CONCERNS]->(m:Memory) WHERE m.scope <> $scope | m.id] AS memories,
       [(e)-[:SUPPORTS|REFUTES|CONCERNS]->(b:Belief) WHERE b.scope <> $scope | b.id] AS beliefs
ORDER BY id
