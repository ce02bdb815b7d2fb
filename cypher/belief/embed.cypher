// Store the embedding of the statements of beliefs. Beliefs whose statement has changed since are skipped.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $embeddings  list  maps: id, statement, embedding, token_states (bytes or null)
// columns:

UNWIND $embeddings AS row
MATCH (b:Belief {tenant: $tenant, id: row.id})
SET b.locked_at = datetime.realtime('Z')
WITH b, row
WHERE b.statement = row.statement
SET b.unembedded = null
WITH b, row
CALL db.create.setNodeVectorProperty(b, 'embedding', row.embedding)
SET b.token_states = row.token_states
