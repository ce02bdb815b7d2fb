// What was decided of clusters, a page by id: enough to make beliefs and their edges again without a model.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string   tenant name
//   $after   string   id of the last row of the previous page; '' for the first page
//   $limit   integer  maximum number of rows per page
// columns:
//   - id       string  of the reply
//   - decided  string  JSON: beliefs, said and marks

MATCH (r:Reply)
WHERE r.tenant = $tenant AND r.id > $after AND r.done
RETURN r.id AS id, r.decided AS decided
ORDER BY id
LIMIT $limit
