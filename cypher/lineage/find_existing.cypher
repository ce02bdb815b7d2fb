// Look up the event with a given id, its target memory and the heads of its chain. Run it after commit/lock.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $scopes     list    read scopes of the writer
//   $event_id   string  id of the event to be written
//   $memory_id  string  memory id
// columns:
//   - event   map  request_hash and payload, or null
//   - memory  map  id, scope, status, content_hash, corrected_at (of the newest correction about it), or null
//   - heads   list  such maps of the heads of its chain; empty unless it is superseded

OPTIONAL MATCH (e:Event {tenant: $tenant, id: $event_id})
OPTIONAL MATCH (m:Memory {tenant: $tenant, id: $memory_id})
WHERE m.scope IN $scopes
// include: fragments/chain_heads.cypher
LET value_keys = CASE WHEN m.rulings IS NULL THEN [] ELSE [m.value_key] END, until = null, recorded = null
// include: fragments/rejection.cypher
RETURN e {.request_hash, .occurred_at, .payload} AS event,
       m {
         .id, .scope, .content_hash,
         status: CASE WHEN rejection IS NULL THEN m.status ELSE 'rejected' END,
         corrected_at: COLLECT { MATCH (m)<-[:CONCERNS]-(x:Event {tenant: $tenant}) RETURN max(x.occurred_at) }[0]
       } AS memory,
       COLLECT {
         MATCH (head:Memory {tenant: $tenant})
         WHERE head.id IN head_ids
         RETURN head {
           .id, .scope, .status, .content_hash,
           corrected_at: COLLECT { MATCH (head)<-[:CONCERNS]-(x:Event {tenant: $tenant}) RETURN max(x.occurred_at) }[0]
         }
         ORDER BY head.id
       } AS heads
