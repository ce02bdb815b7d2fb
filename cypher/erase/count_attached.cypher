// Count the nodes to erase together with memories, beliefs, episodes and turns, without their events.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $memories  list  memory ids
//   $beliefs   list  belief ids
//   $episodes  list  episode ids
//   $turns     list  turn ids
// columns:
//   - items     map      number of memories, beliefs and episodes, by label
//   - turns     integer  number of these turns and of those of the episodes
//   - archives  integer  number of archives of the episodes
//   - replies   integer  number of replies that rest on the episodes, their turns, these turns or their episodes
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
  // include: fragments/erased_turns.cypher
  RETURN count(t) AS turns
}
CALL () {
  UNWIND $episodes AS id
  MATCH (p:Episode {tenant: $tenant, id: id})
  RETURN sum(COUNT { (p)-[:ARCHIVED_AS]->(:Archive) }) AS archives
}
CALL () {
  CALL () {
    UNWIND $episodes AS id
    MATCH (:Episode {tenant: $tenant, id: id})<-[:RESTS_ON]-(r:Reply)
    RETURN r
  UNION
    // include: fragments/erased_turns.cypher
    MATCH (t)<-[:RESTS_ON]-(r:Reply {tenant: $tenant})
    RETURN r
  UNION
    UNWIND $turns AS id
    MATCH (:Turn {tenant: $tenant, id: id})-[:OCCURRED_IN]->(:Episode {tenant: $tenant})<-[:RESTS_ON]-(r:Reply {tenant: $tenant})
    RETURN r
  }
  RETURN count(r) AS replies
}
// CartesianProduct: both inputs are single rows.
RETURN items, turns, archives, replies, ratings
