// The generation of the embeddings by which the graph is searched.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
// columns:
//   - generation  integer  from 1; no row before the first migration

MATCH (e:EmbeddingModel {key: 'current'})
RETURN coalesce(e.generation, 1) AS generation
