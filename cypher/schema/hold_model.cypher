// Keep a model's record from being given up until the transaction ends; no row when it was already.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $generation  integer  of its embeddings
// columns:
//   - name  string  of the model

MATCH (e:EmbeddingModel)
WHERE e.key IN ['current', 'next', 'former'] AND coalesce(e.generation, 1) = $generation
SET e.generation = $generation
WITH e
// Looked at again behind the lock.
WHERE e.key IN ['current', 'next', 'former']
RETURN e.name AS name
