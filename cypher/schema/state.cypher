// Return the applied migrations and the embedding models of this graph.
// mode: read
// rows: one
// allow: NodeByLabelScan
// params:
// columns:
//   - migrations  list  maps by number: number, name, sha256, applied_at, language
//   - models      list  maps: key, name, dimension, generation, mu_document, mu_query; empty before the first migration

OPTIONAL MATCH (m:Migration)
WITH m
ORDER BY m.number
WITH collect(m {.number, .name, .sha256, .applied_at, .language}) AS migrations
OPTIONAL MATCH (e:EmbeddingModel)
RETURN migrations, collect(e {.key, .name, .dimension, .mu_document, .mu_query, .generation}) AS models
