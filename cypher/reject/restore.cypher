// Add events to the tombstones of their values; a tombstone that was lost is created.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $events  list  maps: tombstone (its id), value_key, and the columns of reject/events
// columns:

UNWIND $events AS row
MERGE (r:Rejection {tenant: $tenant, id: row.tombstone})
ON CREATE SET r.scope = row.scope, r.digest = row.digest, r.recorded_at = row.recorded_at
SET r.value_key = row.value_key
WITH r, collect({id: row.id, at: row.occurred_at, known_at: row.recorded_at, rejects: row.rejects, path: row.path}) AS given
// include: fragments/merge_rulings.cypher
WITH r, given
UNWIND given AS ruling
MATCH (e:Event {tenant: $tenant, id: ruling.id})
MERGE (e)-[:CONCERNS]->(r)
