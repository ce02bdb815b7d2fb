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
  MATCH (n:Memory {tenant: $tenant, id: CASE $kind WHEN 'memory' THEN row.id END})
  RETURN n
UNION ALL
  MATCH (n:Belief {tenant: $tenant, id: CASE $kind WHEN 'belief' THEN row.id END})
  // Lock before reading: a concurrent writer may change the text.
  SET n.locked_at = datetime.realtime('Z')
  WITH n
  WHERE n.statement = row.text
  RETURN n
UNION ALL
  MATCH (n:Turn {tenant: $tenant, id: CASE $kind WHEN 'turn' THEN row.id END})
  RETURN n
UNION ALL
  MATCH (n:Episode {tenant: $tenant, id: CASE $kind WHEN 'episode' THEN row.id END})
  RETURN n
UNION ALL
  MATCH (:Item {tenant: $tenant, id: CASE $kind WHEN 'item' THEN row.id END})-[:FOUND_BY]->(n:ItemText {tenant: $tenant, name: row.name, text: row.text})
  RETURN n
}
CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
SET n.token_states = CASE WHEN $kind <> 'item' THEN row.token_states END
