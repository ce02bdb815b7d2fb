// Return which of the given events are not in the tombstone of their value.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $events  list  maps: id, tombstone (its id), value_key (of the tombstone)
// columns:
//   - id         string  event id
//   - tombstone  string  id of the tombstone

UNWIND $events AS row
OPTIONAL MATCH (r:Rejection {tenant: $tenant, id: row.tombstone})
FILTER NOT coalesce(row.id IN r.event_ids AND r.value_key = row.value_key, false)
RETURN row.id AS id, row.tombstone AS tombstone
