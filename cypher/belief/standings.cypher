// Return whether beliefs and memories are in force, and whether another candidate leads the slot of a belief.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $memories  list  ids of memories
//   $beliefs   list  ids of beliefs
// columns:
//   - id         string   one of these ids
//   - status     string   status as of the read
//   - lost       boolean  it is not current, or another candidate leads its ONE slot
//   - ambiguous  boolean  it is one of two values too close to decide

CALL () {
  UNWIND $memories AS id
  MATCH (n:Memory {tenant: $tenant, id: id})
  WHERE n.scope IN $scopes
  RETURN n
UNION ALL
  UNWIND $beliefs AS id
  MATCH (n:Belief {tenant: $tenant, id: id})
  WHERE n.scope IN $scopes
  RETURN n
}
WITH collect(n) AS asked
// include: fragments/slot_standings.cypher
UNWIND judged AS j
LET node = j.b
// include: fragments/rejected_for_reader.cypher
RETURN j.b.id AS id, CASE WHEN reader_rejects THEN 'rejected' ELSE j.status END AS status, j.lost AS lost, coalesce(j.value.ambiguous, false) AS ambiguous
