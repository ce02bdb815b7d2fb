// Erase episodes without turns and events, with their archives, ratings and replies. The next consolidation reads the
// rest of their scope again, because the remaining passages may now support different beliefs.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $episodes  list  episode ids
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
  MATCH (u:JobUnit)
  WHERE u.tenant = $tenant AND u.id > '' AND u.scope = p.scope AND u.unit IN [p.id, p.session_id]
  DELETE u
}
CALL (p) {
  MATCH (c:Consolidation {tenant: $tenant, scope: p.scope})
  SET c.cursor = null
}
CALL (p) {
  DETACH DELETE p
}
// Ratings are deleted last: a transaction that creates one holds the node, and has committed by now.
WITH id
MATCH (r:Rating {tenant: $tenant, kind: 'Episode', id: id})
DELETE r
