// Take the turns of conversations out of the search indexes and append COMPRESS events. The words stay. Conversations that
// were compressed, accessed or restored meanwhile are skipped.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// refers_to: events.about Episode
// params:
//   $tenant  string  tenant name
//   $events  list    maps: about (the episode's id), turns (the number of those to compress) and the event properties
// columns:
//   - id  string  id of a compressed episode

UNWIND $events AS event
MATCH (p:Episode {tenant: $tenant, id: event.about})
// Writing before reading takes the write lock, so concurrent writers are serialised.
SET p.locked_at = datetime.realtime('Z')
WITH p, event
WHERE NOT EXISTS { (p)<-[:ACCESSED]-(:Event {tenant: $tenant}) }
  AND NOT EXISTS { (p)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'RESTORE'}) }
  AND event.turns = COUNT { MATCH (p)<-[:OCCURRED_IN]-(t:Turn {tenant: $tenant}) WHERE t.compressed IS NULL }
CALL (p) {
  MATCH (p)<-[:OCCURRED_IN]-(t:Turn {tenant: $tenant})
  // Without these keys, full-text search does not find a turn.
  SET t.compressed = true, t.tenant_key = null, t.scope_key = null
  REMOVE t.embedding, t.token_states
}
SET p.turns_compressed = true
WITH p, event
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(p)
RETURN p.id AS id
