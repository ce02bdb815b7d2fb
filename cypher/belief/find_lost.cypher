// Return which of the given beliefs have lost. These are superseded beliefs and candidates of ONE slots with another
// leader, unless the two are ambiguous.
// mode: read
// rows: one
// source: ESPER, ONE; twin oracles/projection.py
// plan: NodeUniqueIndexSeek NodeIndexSeek
// params:
//   $ids  list  belief ids
// columns:
//   - lost  list  belief ids

CALL () {
  UNWIND $ids AS id
  MATCH (b:Belief {tenant: $tenant, id: id})
  WHERE b.scope IN $scopes
  RETURN collect(b) AS asked
}
// include: fragments/slot_standings.cypher
RETURN [j IN judged WHERE j.lost | j.b.id] AS lost
