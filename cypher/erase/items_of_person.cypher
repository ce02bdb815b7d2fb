// List the beliefs about a person in all scopes, and the memories that claim nothing else.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $names  list  names of the person, folded
// columns:
//   - beliefs   list  ids of beliefs with such a subject or object
//   - memories  list  ids of memories that claim only such beliefs

LET beliefs = COLLECT {
  MATCH (b:Belief)
  WHERE b.tenant = $tenant AND b.id IS NOT NULL AND (b.subject_key IN $names OR b.object_key IN $names)
  RETURN b
}
RETURN [b IN beliefs | b.id] AS beliefs,
       COLLECT {
         UNWIND beliefs AS b
         MATCH (b)<-[:CLAIMS]-(m:Memory {tenant: $tenant})
         WITH DISTINCT m
         WHERE NOT EXISTS { MATCH (m)-[:CLAIMS]->(other:Belief {tenant: $tenant}) WHERE NOT other IN beliefs }
         RETURN m.id
       } AS memories
