// Remove nodes that the tenant no longer has in the graph from which it moves, or has with other properties. Run it after
// commit/lock; relationships that remain there are created again with the node, or with the later of their two nodes.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $kind  string  label of the nodes, as in an export
//   $part  string  label of the rated items, for ratings; else ''
//   $keys  list    keys of the nodes
// columns:

CALL () {
  UNWIND CASE WHEN $kind = 'Item' THEN $keys ELSE [] END AS key
  MATCH (i:Item {tenant: $tenant, id: key})-[:STANDS_IN]->(n:Namespace {tenant: $tenant})
  OPTIONAL MATCH (i)-[:FOUND_BY]->(t:ItemText {tenant: $tenant})
  DETACH DELETE t, i
  WITH DISTINCT n
  FILTER NOT EXISTS { (n)<-[:STANDS_IN]-(:Item {tenant: $tenant}) }
  DELETE n
}
CALL () {
  UNWIND CASE WHEN $kind = 'Consolidation' THEN $keys ELSE [] END AS key
  MATCH (k:Consolidation {tenant: $tenant, scope: key})
  DETACH DELETE k
}
CALL () {
  UNWIND CASE WHEN $kind = 'Rating' THEN $keys ELSE [] END AS key
  MATCH (r:Rating {tenant: $tenant, kind: $part, id: key})
  DETACH DELETE r
}
CALL () {
  UNWIND CASE WHEN $kind = 'Rater' THEN [1] ELSE [] END AS once
  MATCH (o:Rater {tenant: $tenant})
  DETACH DELETE o
}
UNWIND $keys AS key
WITH $kind AS label, key
// include: fragments/node_by_key.cypher
DETACH DELETE x
