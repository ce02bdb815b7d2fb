// List the records of erasures, oldest first. Paged by id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  full-text token of the tenant
//   $after   string  id of the last row of the previous page; 'erasure_' for the first page
// columns:
//   - id         string    id of the record
//   - what       string    kind of the erased data
//   - digest     string    key of the tombstone of the erased data
//   - erased_at  datetime  time of the end of the erasure
//   - actor      string    who asked for it; null: not given
//   - reason     string    why; null: not given
//   - counts     string    JSON map of the number of erased nodes by label

MATCH (t:Tombstone)
WHERE t.tenant = $tenant AND t.key > $after AND t.key STARTS WITH 'erasure_'
WITH t
ORDER BY t.tenant, t.key
LIMIT $limit
RETURN t.key AS id, t.what AS what, t.digest AS digest, t.erased_at AS erased_at, t.actor AS actor, t.reason AS reason,
       t.counts AS counts
ORDER BY id
