// How many texts items under a namespace are found by, counted up to a bound.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $tenant  string   tenant name
//   $scope   string   scope name
//   $prefix  string   the path of a namespace, labels each with a point behind it; '' is all
//   $most    integer  where to stop
// columns:
//   - texts  integer  at most $most

MATCH (n:Namespace)
USING INDEX n:Namespace(tenant, scope, path)
WHERE n.tenant = $tenant AND n.scope = $scope AND n.path STARTS WITH $prefix
MATCH (n)<-[:STANDS_IN]-(:Item {tenant: $tenant})-[:FOUND_BY]->(t:ItemText {tenant: $tenant})
WITH t
LIMIT $most
RETURN count(t) AS texts
