// Delete the record of an embedding model without remaining embeddings.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $generation  integer  generation of its embeddings
// columns:

MATCH (e:EmbeddingModel {key: 'dropped'})
WHERE e.generation = $generation
DELETE e
