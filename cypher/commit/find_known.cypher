// Look up which parts of a batch exist, before texts are embedded. Matches events by id, and memories by exact content.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $event_ids   list  ids of the events of the batch
//   $memory_ids  list  ids of its contents in every read scope
// columns:
//   - events    list  ids of those that exist
//   - memories  list  ids of those that exist

RETURN
  COLLECT {
    MATCH (e:Event {tenant: $tenant})
    WHERE e.id IN $event_ids
    RETURN e.id
  } AS events,
  COLLECT {
    MATCH (m:Memory {tenant: $tenant})
    WHERE m.id IN $memory_ids
    RETURN m.id
  } AS memories
