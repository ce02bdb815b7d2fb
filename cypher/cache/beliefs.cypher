// Compare the cached status of beliefs, and of their incoming edges, with their events. Paged by id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $valid  datetime  a time later than every event
//   $known  datetime  upper bound of known time; null: no bound
//   $after  string    id of the last row of the previous page; '' for the first page
//   $limit  integer   maximum number of beliefs per page
// columns:
//   - id      string   belief id
//   - cached  string   cached status, and the number of incoming edges with a wrong cached state
//   - found   string   status computed from the events
//   - wrong   boolean  whether the two differ

MATCH (m:Belief)
WHERE m.tenant = $tenant AND m.id > $after
WITH m
ORDER BY m.id
LIMIT $limit
CALL (m) {
  WITH m AS node
  // include: fragments/unruled_status_as_of.cypher
  RETURN unruled, superseding
}
// include: fragments/compare_lineage.cypher
RETURN m.id AS id, cached, found, wrong
ORDER BY id
