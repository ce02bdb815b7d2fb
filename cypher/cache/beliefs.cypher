// Beliefs whose cached status, or that of an edge onto them, is not what their events say; a page, by id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string    tenant name
//   $valid   datetime  later than every event
//   $known   datetime  upper bound of known time; null: no bound
//   $after   string    the last page ended at this id; '' for the first
//   $limit   integer   beliefs of a page
// columns:
//   - id      string  of the belief
//   - cached  string  its status as kept, and of how many edges onto it the cached state is wrong
//   - found   string  its status from its events
//   - wrong   boolean  they differ

MATCH (m:Belief)
WHERE m.tenant = $tenant AND m.id > $after
WITH m
ORDER BY m.id
LIMIT $limit
CALL (m) {
  WITH m AS node
  // include: fragments/standing_as_of.cypher
  RETURN status, edges
}
// include: fragments/compare_lineage.cypher
RETURN m.id AS id, cached, found, wrong
ORDER BY id
