// Beliefs that have no embedding yet.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string   whose
//   $limit   integer  rows at most
// columns:
//   - id         string  of the belief
//   - statement  string  to embed

MATCH (b:Belief)
WHERE b.tenant = $tenant AND b.unembedded = true
RETURN b.id AS id, b.statement AS statement
LIMIT $limit
