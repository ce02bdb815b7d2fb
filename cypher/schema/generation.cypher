// Return the generation of the embeddings that searches use.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
// columns:
//   - generation  integer  generation, from 1; no row before the first migration

MATCH (e:EmbeddingModel {key: 'current'})
RETURN e.generation AS generation
