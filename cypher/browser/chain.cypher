// Draw the supersession chain of a memory or a belief. Shows nodes at any distance, newest first, with the edge and the
// event of each supersession.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $id     string   id of a memory or a belief
//   $skip   integer  number of newest nodes to skip
//   $limit  integer  maximum number of nodes, and of nodes that each superseded
// columns:
//   - item      node     memory or belief
//   - replaced  list     paths to the superseded nodes
//   - events    list     paths through the events of the supersessions
//   - items     integer  total number of nodes, drawn or not

MATCH (start:Memory|Belief {tenant: $tenant, id: $id})
WHERE start.scope IN $scopes
MATCH (start)-[:SUPERSEDES*0..]-(m)
WHERE m.tenant = $tenant AND m.scope IN $scopes
// DISTINCT lets the server visit each node once, regardless of the number of paths to it.
WITH DISTINCT m
ORDER BY m.created_at DESC, m.id
WITH collect(m) AS found
WITH found, size(found) AS items
UNWIND found[$skip..$skip + $limit] AS n
CALL (n) {
  MATCH way = (n)-[s:SUPERSEDES]->(older)
  WHERE older.scope IN $scopes
  WITH n, way, s, older
  ORDER BY s.occurred_at DESC, s.event_id DESC, older.id
  LIMIT $limit
  OPTIONAL MATCH path = (n)<-[:CONCERNS]-(e:Event {tenant: $tenant, id: s.event_id})-[:CONCERNS]->(older)
  RETURN collect(way) AS replaced, collect(path) AS events
}
RETURN n AS item, replaced, events, items
