// Events of a scope or of a whole tenant, a page by id, and what of other scopes they speak of.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string   tenant name
//   $scope   string   which part; null: all of it
//   $after   string   id of the last row of the previous page; '' for the first page
//   $limit   integer  maximum number of rows per page
// columns:
//   - id        string  of an event
//   - memories  list    ids of those in other scopes that it speaks of
//   - beliefs   list    likewise

MATCH (e:Event)
WHERE e.tenant = $tenant AND e.id > $after AND ($scope IS NULL OR e.scope = $scope)
WITH e
ORDER BY e.tenant, e.id
LIMIT $limit
RETURN e.id AS id,
       [(e)-[:REINFORCES|CONCERNS]->(m:Memory) WHERE m.scope <> $scope | m.id] AS memories,
       [(e)-[:SUPPORTS|REFUTES|CONCERNS]->(b:Belief) WHERE b.scope <> $scope | b.id] AS beliefs
ORDER BY id
