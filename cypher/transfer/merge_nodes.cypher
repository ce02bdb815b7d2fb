// Merge the properties of an export into existing memories and beliefs. Takes the earliest creation time, all tags, and
// the earliest wording, as in fragments/merge_belief. The caller rebuilds the caches afterwards.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $nodes  list  maps: key and has (properties)
// columns:

UNWIND $nodes AS row
LET given = row.has
CALL (row, given) {
  MATCH (m:Memory {tenant: $tenant, id: row.key})
  SET m.created_at = CASE WHEN given.created_at < m.created_at THEN given.created_at ELSE m.created_at END,
      m.recorded_at = CASE WHEN given.recorded_at < m.recorded_at THEN given.recorded_at ELSE m.recorded_at END,
      m.tags = coll.distinct(coalesce(m.tags, []) + given.tags)
}
CALL (row, given) {
  MATCH (b:Belief {tenant: $tenant, id: row.key})
  // Lock before comparing: writing evidence does not lock the tenant.
  SET b.locked_at = datetime.realtime('Z')
  SET b.created_at = CASE WHEN given.created_at < b.created_at THEN given.created_at ELSE b.created_at END,
      b.recorded_at = CASE WHEN given.recorded_at < b.recorded_at THEN given.recorded_at ELSE b.recorded_at END
  WITH row, given, b
  WHERE given.worded_at < b.worded_at OR (given.worded_at = b.worded_at AND given.first_id < b.first_id)
  SET b.unembedded = CASE b.statement WHEN given.statement THEN b.unembedded ELSE true END
  SET b.worded_at = given.worded_at, b.first_id = given.first_id, b.statement = given.statement,
      b.subject = given.subject, b.predicate = given.predicate, b.object = given.object
}
