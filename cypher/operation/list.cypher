// List the long calls of a tenant that a key shows, by id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $granted   list    scopes
//   $prefixes  list    beginnings of scopes
//   $one       string  id of the only one to return; null: all
// columns:
//   - operation  map  properties of the call

MATCH (u:JobUnit)
WHERE u.tenant = $tenant AND u.id STARTS WITH 'op_' AND u.id > $after_id
  AND ($one IS NULL OR u.id = $one)
  AND (u.scope IN $granted OR any(start IN $prefixes WHERE u.scope STARTS WITH start))
RETURN u {.id, .unit, .scope, .asked_at, .served_at, .finished_at, .cancelled_at, .owner, .progress, .outcome, .result} AS operation
ORDER BY u.id
LIMIT $limit
