// Return what is linked to memories, beliefs, episodes, turns and events: the newest neighbours of each kind of relationship, and
// how many there are.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $opened   list     maps: id, and top, the maximum number of neighbours of each kind
//   $types    list     types of relationships to follow
//   $counted  integer  maximum number of neighbours of each kind that are counted
// columns:
//   - card    map   the node, see fragments/graph_node.cypher
//   - groups  list  maps: type of the relationship, outgoing (whether it starts here), kind of the neighbours, total, cards (the newest, see fragments/graph_node.cypher)

UNWIND range(0, size($opened) - 1) AS place
LET id = $opened[place].id, top = $opened[place].top
CALL (id) {
  MATCH (n:Memory {tenant: $tenant, id: id})
  RETURN n
UNION
  MATCH (n:Belief {tenant: $tenant, id: id})
  RETURN n
UNION
  MATCH (n:Episode {tenant: $tenant, id: id})
  RETURN n
UNION
  MATCH (n:Turn {tenant: $tenant, id: id})
  RETURN n
UNION
  MATCH (n:Event {tenant: $tenant, id: id})
  RETURN n
}
FILTER n.scope IN $scopes
CALL (n) {
  LET x = n
  // include: fragments/graph_node.cypher
  RETURN card
}
// include: fragments/incoming.cypher
CALL (n, top, incoming) {
  CALL (n, incoming) {
    UNWIND incoming AS one
    RETURN one.type AS type, one.outgoing AS outgoing, one.x AS x
  UNION ALL
    MATCH (n)-[r:SUPPORTS|REFUTES|SUPERSEDES|REINFORCES|CLAIMS|CONCERNS|OCCURRED_IN|QUOTES|RETRACTS]->(x:Memory|Belief|Episode|Turn|Event {tenant: $tenant})
    WHERE type(r) IN $types AND x.scope IN $scopes
    RETURN type(r) AS type, true AS outgoing, x
    LIMIT $counted
  }
  WITH type, outgoing, x, top
  ORDER BY coalesce(x.occurred_at, x.created_at, x.recorded_at) DESC, x.id
  WITH type, outgoing, top, CASE WHEN x:Turn THEN 'turn' WHEN x:Event THEN 'event' WHEN x:Episode THEN 'episode' WHEN x:Memory THEN 'memory' ELSE 'belief' END AS kind, collect(x) AS found
  CALL (found, top) {
    UNWIND found[..top] AS x
    // include: fragments/graph_node.cypher
    RETURN collect(card) AS cards
  }
  WITH type, outgoing, kind, size(found) AS total, cards
  ORDER BY type, outgoing, kind
  RETURN collect({type: type, outgoing: outgoing, kind: kind, total: total, cards: cards}) AS groups
}
RETURN card, groups
ORDER BY place
