// What was applied to this graph and which embedding model filled it.
// mode: read
// rows: one
// allow: NodeByLabelScan
// params:
// columns:
//   - migrations  list  applied ones by number: number, name, sha256, applied_at, language
//   - model       map   name, dimension, mu_document, mu_query; null before the first migration

OPTIONAL MATCH (m:Migration)
WITH m
ORDER BY m.number
WITH collect(m {.number, .name, .sha256, .applied_at, .language}) AS migrations
OPTIONAL MATCH (e:EmbeddingModel {key: 'current'})
RETURN migrations, e {.name, .dimension, .mu_document, .mu_query} AS model
