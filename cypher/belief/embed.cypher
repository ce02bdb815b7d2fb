// Give beliefs the embedding of their statement.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant      string  whose
//   $embeddings  list    maps: id, embedding
// columns:

UNWIND $embeddings AS row
MATCH (b:Belief {tenant: $tenant, id: row.id})
SET b.unembedded = null
WITH b, row
CALL db.create.setNodeVectorProperty(b, 'embedding', row.embedding)
