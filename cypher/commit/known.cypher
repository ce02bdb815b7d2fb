// What of a batch is there already, before anything is embedded: events by id, memories by exact content.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant      string  tenant name
//   $event_ids   list    of the batch
//   $memory_ids  list    of its contents in every visible scope
// columns:
//   - events    list  ids of those that are there
//   - memories  list  ids of those that are there

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
