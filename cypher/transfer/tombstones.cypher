// Return a page of the tombstones of a tenant, without the mark of a tenant that moves.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string   full-text token of the tenant
//   $after   string   key of the last one of the previous page; '' for the first page
//   $limit   integer  maximum number of tombstones
// columns:
//   - key  string  key of the tombstone
//   - has  map     its other properties

MATCH (t:Tombstone)
WHERE t.tenant = $tenant AND t.key > $after AND t.key <> 'move'
RETURN t.key AS key, t {.erased_at, .what, .digest, .actor, .reason, .counts} AS has
ORDER BY t.tenant, t.key
LIMIT $limit
