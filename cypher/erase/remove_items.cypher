// Erase memories and beliefs whose own events are gone, with their ratings, checkpoints and edges. What stood before one in a chain
// takes the place of what stood behind it.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $ids     list    of memories and beliefs
// columns:
//   - memories  list  ids of memories that stood beside them in a chain
//   - beliefs   list  ids of beliefs likewise

UNWIND $ids AS id
MATCH (n:Memory|Belief {tenant: $tenant, id: id})
CALL (n) {
  MATCH (newer)-[s:SUPERSEDES]->(n)-[:SUPERSEDES]->(older)
  WHERE newer <> older AND NOT EXISTS { (newer)-[:SUPERSEDES {event_id: s.event_id}]->(older) }
  CREATE (newer)-[:SUPERSEDES {event_id: s.event_id, occurred_at: s.occurred_at, recorded_at: s.recorded_at}]->(older)
}
CALL (n) {
  FILTER n:Belief
  MERGE (c:Checkpoint {tenant: $tenant, slot_id: n.slot_id})
  DELETE c
}
LET beside = COLLECT { MATCH (n)-[:SUPERSEDES]-(x) WHERE NOT x.id IN $ids RETURN DISTINCT x }
LET memories = [x IN beside WHERE x:Memory | x.id], beliefs = [x IN beside WHERE x:Belief | x.id]
CALL (n) {
  DETACH DELETE n
}
WITH coll.flatten(collect(memories)) AS memories, coll.flatten(collect(beliefs)) AS beliefs
// Ratings last: whoever makes one holds the node, and has been waited for by now.
CALL () {
  UNWIND $ids AS id
  UNWIND ['Memory', 'Belief'] AS kind
  MATCH (r:Rating {tenant: $tenant, kind: kind, id: id})
  DELETE r
}
RETURN memories, beliefs
