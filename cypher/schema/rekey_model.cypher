// Give an embedding model another place: next becomes current, current former, former dropped.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $generation  integer  of its embeddings; another one under that key stays
//   $from        string   its key
//   $to          string   its new key, which no other has
// columns:
//   - name  string  of the model

MATCH (e:EmbeddingModel {key: $from})
WHERE coalesce(e.generation, 1) = $generation
SET e.key = $to, e.generation = $generation
RETURN e.name AS name
