// List beliefs that lack an embedding.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $ids  list  belief ids; null: all of the tenant
// columns:
//   - id         string  belief id
//   - statement  string  statement to embed

MATCH (b:Belief)
WHERE b.tenant = $tenant AND b.unembedded = true AND ($ids IS NULL OR b.id IN $ids)
RETURN b.id AS id, b.statement AS statement
LIMIT $limit
