// Store the embeddings of nodes of a kind. Nodes whose text has changed meanwhile are skipped.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $kind   string  memory, belief, turn, episode or item
//   $texts  list    maps: id, name or null, text, embedding, token_states (bytes or null)
// columns:

UNWIND $texts AS row
CALL (row) {
  FILTER $kind = 'memory'
  MATCH (n:Memory {tenant: $tenant, id: row.id})
  RETURN n
UNION ALL
  FILTER $kind = 'belief'
  MATCH (n:Belief {tenant: $tenant, id: row.id})
  // Lock before reading: a concurrent writer may change the text.
  SET n.locked_at = datetime.realtime('Z')
  WITH n
  WHERE n.statement = row.text
  RETURN n
UNION ALL
  FILTER $kind = 'turn'
  MATCH (n:Turn {tenant: $tenant, id: row.id})
  RETURN n
UNION ALL
  FILTER $kind = 'episode'
  MATCH (n:Episode {tenant: $tenant, id: row.id})
  RETURN n
UNION ALL
  FILTER $kind = 'item'
  MATCH (:Item {tenant: $tenant, id: row.id})-[:FOUND_BY]->(n:ItemText {tenant: $tenant, name: row.name, text: row.text})
  RETURN n
}
CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
SET n.token_states = CASE WHEN $kind <> 'item' THEN row.token_states END
