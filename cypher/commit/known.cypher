// What of a batch is there already, before anything is embedded: events by id, memories by exact content.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  whose
//   $rows    list    maps: event_id, exact_ids (memory ids of this content in every visible scope)
// columns:
//   - event_id   string   of the row
//   - is_known   boolean  true: no embedding is needed

UNWIND $rows AS row
OPTIONAL MATCH (e:Event {tenant: $tenant, id: row.event_id})
CALL (row) {
  OPTIONAL MATCH (m:Memory {tenant: $tenant})
  WHERE m.id IN row.exact_ids
  RETURN count(m) AS n
}
RETURN row.event_id AS event_id, e IS NOT NULL OR n > 0 AS is_known
