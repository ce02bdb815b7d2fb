// Replace the outgoing SUPERSEDES edges of memories or beliefs. Run it after commit/lock.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $label   string  Memory or Belief
//   $chains  list    maps: id, and edges (maps: older, event_id, occurred_at, recorded_at)
// columns:

UNWIND $chains AS row
WITH row, $label AS label, row.id AS key
// include: fragments/node_by_key.cypher
WITH row, x AS n
CALL (n) {
  MATCH (n)-[s:SUPERSEDES]->()
  DELETE s
}
UNWIND row.edges AS edge
WITH n, edge, $label AS label, edge.older AS key
// include: fragments/node_by_key.cypher
FILTER x IS NOT NULL
CREATE (n)-[:SUPERSEDES {event_id: edge.event_id, occurred_at: edge.occurred_at, recorded_at: edge.recorded_at}]->(x)
