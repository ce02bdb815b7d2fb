// Count the texts by which items under a namespace are found, up to a bound.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $scope   string   scope name
//   $prefix  string   namespace path: each label followed by a point; '' matches all
//   $limit   integer  upper bound of the count
// columns:
//   - texts  integer  number of texts, at most $limit

MATCH (n:Namespace)
USING INDEX n:Namespace(tenant, scope, path)
WHERE n.tenant = $tenant AND n.scope = $scope AND n.path STARTS WITH $prefix
MATCH (n)<-[:STANDS_IN]-(:Item {tenant: $tenant})-[:FOUND_BY]->(t:ItemText {tenant: $tenant})
WITH t
LIMIT $limit
RETURN count(t) AS texts
