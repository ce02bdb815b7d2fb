// Change the key of an embedding model: next becomes current, current becomes former, former becomes dropped.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $generation  integer  generation of its embeddings; a model of another generation is not changed
//   $from        string   old key
//   $to          string   new key, which must be free
// columns:
//   - name  string  name of the model

MATCH (e:EmbeddingModel {key: $from})
WHERE e.generation = $generation
SET e.key = $to
RETURN e.name AS name
