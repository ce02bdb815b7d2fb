// Write-lock the namespaces of a batch, and create those that are new or empty.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $namespaces  list  maps, sorted by id: id, parts (its labels), path, reversed, and place, the position of its first item in the batch

// One time for all namespaces: the server clock orders batches of several clients, and place orders one batch.
WITH datetime.realtime('Z') AS now
UNWIND $namespaces AS row
MERGE (n:Namespace {tenant: $tenant, id: row.id})
  ON CREATE SET n.scope = $scope, n.parts = row.parts, n.depth = size(row.parts), n.path = row.path, n.reversed = row.reversed
SET n.locked_at = now
WITH row, n, now
FILTER n.creation_order IS NULL OR NOT EXISTS {
  MATCH (n)<-[:STANDS_IN]-(i:Item {tenant: $tenant})
  WHERE i.expires_at IS NULL OR i.expires_at > $valid
}
SET n.creation_order = [now.epochSeconds * 1000000 + now.microsecond, row.place]
