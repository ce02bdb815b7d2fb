// Add events to the tombstones of their values; a tombstone that was lost is created.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $events  list  maps: tombstone (its id), value_key, and the columns of reject/events
// columns:

UNWIND $events AS row
MERGE (r:Rejection {tenant: $tenant, id: row.tombstone})
ON CREATE SET r.scope = row.scope, r.digest = row.digest, r.value_key = row.value_key, r.recorded_at = row.recorded_at
WITH r, collect({id: row.id, at: row.occurred_at, known_at: row.recorded_at, rejects: row.rejects, path: row.path}) AS given
// include: fragments/merge_rulings.cypher
