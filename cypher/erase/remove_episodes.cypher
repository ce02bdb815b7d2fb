// Erase episodes whose turns and events are gone, with their archives, ratings and what was decided of them. The next consolidation
// looks at all that is left in their scope: it may say with other words what said too little without them.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant    string  tenant name
//   $episodes  list    ids
// columns:

UNWIND $episodes AS id
OPTIONAL MATCH (p:Episode {tenant: $tenant, id: id})
CALL (p) {
  MATCH (p)-[:ARCHIVED_AS]->(a:Archive)
  DETACH DELETE a
}
CALL (p) {
  MATCH (p)<-[:RESTS_ON]-(r:Reply)
  DETACH DELETE r
}
CALL (p) {
  MATCH (c:Consolidation {tenant: $tenant, scope: p.scope})
  SET c.cursor = null
}
CALL (p) {
  DETACH DELETE p
}
// Ratings last: whoever makes one holds the node, and has been waited for by now.
WITH id
MATCH (r:Rating {tenant: $tenant, kind: 'Episode', id: id})
DELETE r
