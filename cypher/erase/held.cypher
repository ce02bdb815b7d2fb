// How much goes with memories, beliefs and episodes beside their events.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $tenant    string  whose
//   $items     list    ids of all of them
//   $episodes  list    ids of the episodes
// columns:
//   - items     map  of memories, beliefs and episodes themselves, by label
//   - turns     integer  of the episodes
//   - archives  integer  of the episodes
//   - replies   integer  that rest on the episodes or their turns
//   - ratings   integer  of all of them

CALL () {
  MATCH (n:Memory|Belief|Episode {tenant: $tenant})
  WHERE n.id IN $items
  RETURN {
    Memory: sum(CASE WHEN n:Memory THEN 1 ELSE 0 END),
    Belief: sum(CASE WHEN n:Belief THEN 1 ELSE 0 END),
    Episode: sum(CASE WHEN n:Episode THEN 1 ELSE 0 END)
  } AS items,
  sum(COUNT { MATCH (r:Rating {tenant: $tenant, kind: labels(n)[0], id: n.id}) }) AS ratings
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
