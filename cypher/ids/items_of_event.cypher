// Return the memories, beliefs and episodes in the read scopes that an event is about.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $id  string  event id
// columns:
//   - id  string  id of an item, at most 20 in their order

MATCH (e:Event {tenant: $tenant, id: $id})
WHERE e.scope IN $scopes
CALL (e) {
  MATCH (e)-[:SUPPORTS|REFUTES {tenant: $tenant}]->(n:Belief {tenant: $tenant})
  RETURN n
UNION
  MATCH (e)-[:REINFORCES|CONCERNS]->(n:Memory|Belief|Episode {tenant: $tenant})
  RETURN n
}
FILTER n.scope IN $scopes
RETURN n.id AS id
ORDER BY id
LIMIT 20
