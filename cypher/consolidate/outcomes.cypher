// List the stored outcomes of clusters, which are sufficient to recreate beliefs and edges without a model. Paged by
// id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $after  string  id of the last row of the previous page; '' for the first page
// columns:
//   - id       string  reply id
//   - decided  string  JSON: beliefs, evidence and marks

MATCH (r:Reply)
WHERE r.tenant = $tenant AND r.id > $after AND r.done
RETURN r.id AS id, r.decided AS decided
ORDER BY id
LIMIT $limit
