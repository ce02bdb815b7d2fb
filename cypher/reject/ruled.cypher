// Return which values are rejected for the reader as of (valid, known), whether or not a memory or a belief states them.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $keys   list      keys of values: see rules/rejections.py value_key
//   $valid  datetime  upper bound of valid time
//   $known  datetime  upper bound of known time; null: no bound
// columns:
//   - key  string  key of a rejected value

UNWIND $keys AS key
CALL (key) {
  MATCH (r:Rejection)
  WHERE r.tenant = $tenant AND r.value_key = key AND r.scope IS NOT NULL
  UNWIND range(0, size(r.rejects) - 1) AS i
  WITH r, i
  ORDER BY r.at[i], r.event_ids[i], r.value_key + r.paths[i]
  RETURN {
    rulings: collect(r.rejects[i]), ruled_at: collect(r.at[i]), ruled_known: collect(r.known_at[i]),
    ruled_scopes: collect(r.scope), ruled_paths: collect(r.value_key + r.paths[i])
  } AS node
}
// include: fragments/rejected_for_reader.cypher
FILTER reader_rejects
RETURN key
