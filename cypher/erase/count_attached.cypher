// Count the nodes to erase together with memories, beliefs and episodes, without their events.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $tenant    string  tenant name
//   $memories  list    memory ids
//   $beliefs   list    belief ids
//   $episodes  list    episode ids
// columns:
//   - items     map      number of memories, beliefs and episodes, by label
//   - turns     integer  number of turns of the episodes
//   - archives  integer  number of archives of the episodes
//   - replies   integer  number of replies that rest on the episodes or their turns
//   - ratings   integer  number of ratings of these nodes, including deleted ones

CALL () {
  RETURN {
    Memory: COUNT { MATCH (n:Memory {tenant: $tenant}) WHERE n.id IN $memories },
    Belief: COUNT { MATCH (n:Belief {tenant: $tenant}) WHERE n.id IN $beliefs },
    Episode: COUNT { MATCH (n:Episode {tenant: $tenant}) WHERE n.id IN $episodes }
  } AS items
}
CALL () {
  UNWIND [['Memory', $memories], ['Belief', $beliefs], ['Episode', $episodes]] AS of
  RETURN sum(COUNT { MATCH (r:Rating {tenant: $tenant, kind: of[0]}) WHERE r.id IN of[1] }) AS ratings
}
CALL () {
  UNWIND $episodes AS id
  MATCH (p:Episode {tenant: $tenant, id: id})
  RETURN sum(COUNT { (p)<-[:OCCURRED_IN]-(:Turn) }) AS turns, sum(COUNT { (p)-[:ARCHIVED_AS]->(:Archive) }) AS archives
}
CALL () {
  UNWIND $episodes AS id
  MATCH (p:Episode {tenant: $tenant, id: id})
  CALL (p) {
    MATCH (p)<-[:RESTS_ON]-(r:Reply)
    RETURN r
  UNION
    MATCH (p)<-[:OCCURRED_IN]-(:Turn)<-[:RESTS_ON]-(r:Reply)
    RETURN r
  }
  RETURN count(DISTINCT r) AS replies
}
// CartesianProduct: both inputs are single rows.
RETURN items, turns, archives, replies, ratings
