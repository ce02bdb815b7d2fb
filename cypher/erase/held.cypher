// How much goes with memories, beliefs and episodes beside their events.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $tenant    string  tenant name
//   $memories  list    ids of the memories
//   $beliefs   list    ids of the beliefs
//   $episodes  list    ids of the episodes
// columns:
//   - items     map  of memories, beliefs and episodes themselves, by label
//   - turns     integer  of the episodes
//   - archives  integer  of the episodes
//   - replies   integer  that rest on the episodes or their turns
//   - ratings   integer  of all of them, whether they are still there or not

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
// CartesianProduct: of single rows.
RETURN items, turns, archives, replies, ratings
