// Erase memories and beliefs without events of their own, with their ratings, checkpoints and edges. In a supersession
// chain, the predecessor and the successor of an erased node are linked.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  ids of memories and beliefs
// columns:
//   - memories  list  ids of memories that were adjacent in a chain
//   - beliefs   list  ids of beliefs that were adjacent in a chain

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
// Ratings are deleted last: a transaction that creates one holds the node, and has committed by now.
CALL () {
  UNWIND $ids AS id
  UNWIND ['Memory', 'Belief'] AS kind
  MATCH (r:Rating {tenant: $tenant, kind: kind, id: id})
  DELETE r
}
RETURN memories, beliefs
