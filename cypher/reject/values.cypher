// Return a page of memories or beliefs with what the keys of their values are computed from, by id. Memories that another
// tool wrote and that were not backfilled are left out.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $label  string  Memory or Belief
//   $after  string  id of the last row of the previous page; '' for the first page
// columns:
//   - id             string   id
//   - label          string   Memory or Belief
//   - scope          string   scope
//   - value_key      string   key of its value as stored; null: none
//   - statement_key  string   key of its sentence as stored, if a belief has another than its value; else null
//   - current        boolean  whether its rulings are those of the tombstones of this key
//   - content        string   content of a memory; null: a belief
//   - statement      string   statement of a belief; null: a memory
//   - subject_key    string   folded; null: no triple
//   - predicate_key  string   folded; null: no triple
//   - object_key     string   folded; null: no triple

CALL () {
  MATCH (m:Memory)
  WHERE m.tenant = $tenant AND m.id > CASE $label WHEN 'Memory' THEN $after END AND m.content_hash IS NOT NULL
  RETURN m
  ORDER BY m.tenant, m.id
  LIMIT $limit
UNION ALL
  MATCH (m:Belief)
  WHERE m.tenant = $tenant AND m.id > CASE $label WHEN 'Belief' THEN $after END
  RETURN m
  ORDER BY m.tenant, m.id
  LIMIT $limit
}
LET rulings = COLLECT {
  MATCH (r:Rejection)
  WHERE r.tenant = $tenant AND r.value_key IN [m.value_key, m.statement_key] AND r.scope IS NOT NULL
  UNWIND range(0, size(r.rejects) - 1) AS i
  LET path = r.value_key + r.paths[i]
  RETURN [r.at[i], r.known_at[i], r.rejects[i], r.scope, path]
  ORDER BY r.at[i], r.event_ids[i], path
}
RETURN m.id AS id, $label AS label, m.scope AS scope, m.value_key AS value_key,
       m.statement_key AS statement_key,
       [i IN range(0, coalesce(size(m.rulings), 0) - 1) |
         [m.ruled_at[i], m.ruled_known[i], m.rulings[i], m.ruled_scopes[i], m.ruled_paths[i]]] = rulings AS current,
       m.content AS content, m.statement AS statement, m.subject_key AS subject_key, m.predicate_key AS predicate_key,
       m.object_key AS object_key
ORDER BY id
