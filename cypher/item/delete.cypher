// Delete items, their texts, and the namespaces that become empty.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $namespaces  list      ids of the namespaces of the items, sorted
//   $ids         list      item ids
//   $expired     datetime  delete only items that have expired by this time; null: all of them
// columns:
//   - deleted  integer  number of items deleted

CALL () {
  UNWIND $namespaces AS id
  MATCH (n:Namespace {tenant: $tenant, id: id})
  WHERE n.scope = $scope
  // A concurrent put waits until the namespace is either kept or deleted.
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
