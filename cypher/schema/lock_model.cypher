// Lock the record of an embedding model until the transaction ends. No row: the model was deleted.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $generation  integer  generation of its embeddings
// columns:
//   - name  string  name of the model

MATCH (e:EmbeddingModel)
WHERE e.key IN ['current', 'next', 'former'] AND e.generation = $generation
SET e.generation = $generation
WITH e
// Read again after locking.
WHERE e.key IN ['current', 'next', 'former']
RETURN e.name AS name
