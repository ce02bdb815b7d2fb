// Add events and the derived properties to memories that still have no event of their own scope.
// mode: write
// rows: many
// plan: NodeByElementIdSeek
// writes_ids: memories.id Memory, memories.events.id Event
// params:
//   $memories  list    maps: node (elementId() of the memory), id, scope, scope_key, content, content_hash, value_key, tags, embedding and its token_states (bytes or null), events (event properties, the ADD first); scope and content as read
// columns:
//   - id  string  id of a memory that got its event

UNWIND $memories AS row
MATCH (m:Memory)
WHERE elementId(m) = row.node AND m.tenant = $tenant
  // Another writer may have changed the memory since it was read.
  AND m.scope = row.scope AND m.content = row.content
  AND NOT EXISTS { MATCH (m)<-[:REINFORCES]-(x:Event) WHERE x.tenant = $tenant AND x.scope = m.scope }
CALL (m, row) {
  UNWIND row.events AS event
  // include: fragments/append_event.cypher
  CREATE (e)-[:REINFORCES]->(m)
  RETURN min(e.occurred_at) AS created_at, min(e.recorded_at) AS recorded_at
}
SET m.id = row.id,
    m.tenant_key = $tenant_key,
    m.scope_key = row.scope_key,
    m.content_hash = row.content_hash,
    m.value_key = row.value_key,
    m.tags = row.tags,
    m.token_states = row.token_states,
    m.status = 'current',
    m.created_at = created_at,
    m.recorded_at = recorded_at
WITH m, row
CALL (m, row) {
  CALL db.create.setNodeVectorProperty(m, 'embedding', row.embedding)
}
// include: fragments/take_rulings.cypher
RETURN m.id AS id
