// Record the embedding model of this graph; the first one stays.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $name         string   of the model
//   $dimension    integer  of its vectors
//   $mu_document  float    mean cosine of unrelated documents
//   $mu_query     float    mean cosine of unrelated queries and documents
// columns:

MERGE (e:EmbeddingModel {key: 'current'})
ON CREATE SET
  e.name = $name,
  e.dimension = $dimension,
  e.mu_document = $mu_document,
  e.mu_query = $mu_query,
  e.recorded_at = datetime.realtime('Z')
