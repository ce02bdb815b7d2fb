// Add the missing properties and events to memories. An event that already exists, because the memory was deleted and
// created again, is linked again.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// writes_ids: memories.id Memory, memories.events.id Event
// params:
//   $tenant      string  tenant name
//   $tenant_key  string  full-text token of the tenant
//   $memories    list    maps: id, scope_key, content_hash, value_key, tags, status, created_at or null, recorded_at or null, embedding (null: unchanged) and its token_states (bytes or null), events (event properties)
// columns:

UNWIND $memories AS row
MATCH (m:Memory {tenant: $tenant, id: row.id})
CALL (m, row) {
  FILTER row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(m, 'embedding', row.embedding)
  SET m.token_states = row.token_states
}
CALL (m, row) {
  UNWIND row.events AS event
  CALL (event) {
    MATCH (e:Event {tenant: $tenant, id: event.id})
    RETURN e
  UNION ALL
    FILTER NOT EXISTS { MATCH (x:Event {tenant: $tenant, id: event.id}) }
    // include: fragments/append_event.cypher
    RETURN e
  }
  FOREACH (x IN CASE event.type WHEN 'DEPRECATE' THEN [] ELSE [m] END | CREATE (e)-[:REINFORCES]->(x))
  FOREACH (x IN CASE event.type WHEN 'DEPRECATE' THEN [m] ELSE [] END | CREATE (e)-[:CONCERNS]->(x))
}
CALL (m) {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.scope = m.scope
  RETURN min(e.occurred_at) AS first_at, min(e.recorded_at) AS known_at
}
// Neither time is later than the events imply; queries of past states rely on it.
SET m.tenant_key = $tenant_key,
    m.scope_key = row.scope_key,
    m.content_hash = row.content_hash,
    m.value_key = row.value_key,
    m.tags = row.tags,
    m.status = row.status,
    m.created_at = CASE WHEN row.created_at <= first_at THEN row.created_at ELSE first_at END,
    m.recorded_at = CASE WHEN row.recorded_at <= known_at THEN row.recorded_at ELSE known_at END
WITH m
// include: fragments/take_rulings.cypher
