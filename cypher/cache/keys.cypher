// Return a page of nodes of one label with the keys by which they are found, and what these are computed from. Paged by id.
// Nodes that another tool wrote and that were not backfilled are left out.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $label  string  Memory, Belief, Turn or Episode
//   $after  string  id of the last row of the previous page; '' for the first page
// columns:
//   - label          string  $label
//   - id             string  id
//   - scope          string  scope
//   - tenant_key     string  cached: full-text token of the tenant
//   - scope_key      string  cached: full-text token of the scope
//   - slot_id        string  cached: slot of a belief; else null
//   - hidden         boolean  whether searches do not find it: a compressed turn, or an episode without a summary
//   - subject_key    string  folded subject of a belief; null: none
//   - predicate_key  string  folded predicate of a belief; null: none

CALL () {
  MATCH (x:Memory) WHERE x.tenant = $tenant AND x.id > CASE $label WHEN 'Memory' THEN $after END AND x.content_hash IS NOT NULL
  RETURN x ORDER BY x.tenant, x.id LIMIT $limit
UNION ALL
  MATCH (x:Belief) WHERE x.tenant = $tenant AND x.id > CASE $label WHEN 'Belief' THEN $after END
  RETURN x ORDER BY x.tenant, x.id LIMIT $limit
UNION ALL
  MATCH (x:Turn) WHERE x.tenant = $tenant AND x.id > CASE $label WHEN 'Turn' THEN $after END
  RETURN x ORDER BY x.tenant, x.id LIMIT $limit
UNION ALL
  MATCH (x:Episode) WHERE x.tenant = $tenant AND x.id > CASE $label WHEN 'Episode' THEN $after END
  RETURN x ORDER BY x.tenant, x.id LIMIT $limit
}
RETURN $label AS label, x.id AS id, x.scope AS scope, x.tenant_key AS tenant_key, x.scope_key AS scope_key,
       x.slot_id AS slot_id, coalesce(x.compressed, x:Episode AND x.tenant_key IS NULL AND x.scope_key IS NULL) AS hidden, x.subject_key AS subject_key, x.predicate_key AS predicate_key
ORDER BY id
