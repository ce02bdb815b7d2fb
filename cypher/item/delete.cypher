// Delete items, the texts they are found by, and the namespaces that then hold nothing.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant      string    tenant name
//   $scope       string    scope name
//   $namespaces  list      ids of their namespaces, sorted
//   $ids         list      of the items
//   $expired     datetime  only those that have expired by then; null: all of them
// columns:
//   - deleted  integer  items that were there

CALL () {
  UNWIND $namespaces AS id
  MATCH (n:Namespace {tenant: $tenant, id: id})
  WHERE n.scope = $scope
  // Whoever puts an item here waits until the namespace is left as it is, or gone.
  SET n.locked_at = datetime.realtime('Z')
}
CALL () {
  UNWIND $ids AS id
  MATCH (i:Item {tenant: $tenant, id: id})
  WHERE i.scope = $scope AND ($expired IS NULL OR i.expires_at <= $expired)
  OPTIONAL MATCH (i)-[:FOUND_BY]->(t:ItemText {tenant: $tenant})
  DETACH DELETE t, i
  RETURN count(DISTINCT id) AS deleted
}
CALL () {
  UNWIND $namespaces AS id
  MATCH (n:Namespace {tenant: $tenant, id: id})
  WHERE n.scope = $scope AND NOT EXISTS { (n)<-[:STANDS_IN]-(:Item {tenant: $tenant}) }
  DELETE n
}
RETURN deleted
