// Recompute the dates of memories from the remaining events.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  memory ids
// columns:

UNWIND $ids AS id
MATCH (m:Memory {tenant: $tenant, id: id})
CALL (m) {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.scope = m.scope
  RETURN min(e.occurred_at) AS first_at, min(e.recorded_at) AS known_at,
         count(CASE WHEN e.type IN ['ADD', 'IMPORT'] THEN 1 END) AS births
}
// A memory is recorded just before the event that created it.
SET m.created_at = coalesce(first_at, m.created_at),
    m.recorded_at = CASE WHEN births = 0 THEN coalesce(known_at, m.recorded_at) ELSE m.recorded_at END
