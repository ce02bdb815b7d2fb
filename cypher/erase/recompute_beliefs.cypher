// Recompute the dates of beliefs from the remaining events, and delete their checkpoints.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  belief ids
// columns:

UNWIND $ids AS id
MATCH (b:Belief {tenant: $tenant, id: id})
CALL (b) {
  MATCH (b)<-[:SUPPORTS|REFUTES|CONCERNS]-(e:Event)
  RETURN min(e.occurred_at) AS first_at
}
CALL (b) {
  MATCH (b)<-[:SUPPORTS|REFUTES|CONCERNS]-(e:Event)
  WHERE e.polarity IS NOT NULL OR e.type = 'BELIEVE'
  RETURN min(e.recorded_at) AS known_at
}
CALL (b) {
  OPTIONAL MATCH (b)<-[:SUPPORTS|REFUTES|CONCERNS]-(e:Event)
  WHERE e.strength IS NULL AND (e.polarity IS NOT NULL OR e.type = 'BELIEVE')
  RETURN e AS wording
  ORDER BY e.occurred_at, e.id
  LIMIT 1
}
SET b.created_at = coalesce(first_at, b.created_at),
    b.recorded_at = coalesce(known_at, b.recorded_at),
    b.worded_at = coalesce(wording.occurred_at, b.worded_at),
    b.first_id = coalesce(wording.id, b.first_id)
WITH DISTINCT b.slot_id AS slot_id
// MERGE waits for a checkpoint that is being created.
MERGE (c:Checkpoint {tenant: $tenant, slot_id: slot_id})
DELETE c
