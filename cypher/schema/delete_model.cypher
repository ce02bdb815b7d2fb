// Delete the record of a model of which nothing is left.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $generation  integer  of its embeddings
// columns:

MATCH (e:EmbeddingModel {key: 'dropped'})
WHERE e.generation = $generation
DELETE e
