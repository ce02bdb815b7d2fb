// Look up the event with a given id and its target memory. Run it after commit/lock.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant     string  tenant name
//   $scopes     list    read scopes of the writer
//   $event_id   string  id of the event to be written
//   $memory_id  string  memory id
// columns:
//   - event   map  request_hash and payload, or null
//   - memory  map  id, scope, status, content_hash, or null

OPTIONAL MATCH (e:Event {tenant: $tenant, id: $event_id})
OPTIONAL MATCH (m:Memory {tenant: $tenant, id: $memory_id})
WHERE m.scope IN $scopes
RETURN e {.request_hash, .occurred_at, .payload} AS event,
       m {.id, .scope, .status, .content_hash} AS memory
