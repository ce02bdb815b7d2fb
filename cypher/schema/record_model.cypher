// Record an embedding model of this graph. An existing record with the same key is not changed.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $key          string   current, or next while it fills the graph
//   $generation   integer  generation of its embeddings
//   $name         string   name of the model
//   $dimension    integer  dimension of its vectors
//   $mu_document  float    mean cosine of unrelated documents
//   $mu_query     float    mean cosine of unrelated queries and documents
// columns:

MERGE (e:EmbeddingModel {key: $key})
ON CREATE SET
  e.generation = $generation,
  e.name = $name,
  e.dimension = $dimension,
  e.mu_document = $mu_document,
  e.mu_query = $mu_query,
  e.recorded_at = datetime.realtime('Z')
