// Give beliefs the embedding of their statement, unless it was worded otherwise meanwhile.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant      string  tenant name
//   $embeddings  list    maps: id, statement, embedding
// columns:

UNWIND $embeddings AS row
MATCH (b:Belief {tenant: $tenant, id: row.id})
SET b.locked_at = datetime.realtime('Z')
WITH b, row
WHERE b.statement = row.statement
SET b.unembedded = null
WITH b, row
CALL db.create.setNodeVectorProperty(b, 'embedding', row.embedding)
