// Take turns of conversations out of the search indexes and append COMPRESS events. The words stay. Conversations that were
// compressed, continued, found, accessed or restored meanwhile are skipped, and one without such a turn gets no event.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// refers_to: events.about Episode
// params:
//   $events  list  maps: about (the episode's id), considered (the number of turns read), turn_ids (those to take out) and the event properties
// columns:
//   - id  string  id of a compressed episode

UNWIND $events AS event
MATCH (p:Episode {tenant: $tenant, id: event.about})
// Writing before reading takes the write lock, so concurrent writers are serialised.
SET p.locked_at = datetime.realtime('Z')
WITH p, event
WHERE NOT EXISTS { (p)<-[:ACCESSED|RETURNED]-(:Event {tenant: $tenant}) }
  AND NOT EXISTS { (p)<-[:OCCURRED_IN]-(:Turn {tenant: $tenant})<-[:ACCESSED|RETURNED]-(:Event {tenant: $tenant}) }
  AND NOT EXISTS { (p)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'RESTORE'}) }
  AND event.considered = COUNT { MATCH (p)<-[:OCCURRED_IN]-(t:Turn {tenant: $tenant}) WHERE t.compressed IS NULL }
CALL (p, event) {
  MATCH (p)<-[:OCCURRED_IN]-(t:Turn {tenant: $tenant})
  WHERE t.compressed IS NULL
  // The others are not read again.
  SET t.compressed = t.id IN event.turn_ids
  WITH t
  WHERE t.compressed
  // Without these keys, full-text search does not find a turn.
  SET t.tenant_key = null, t.scope_key = null
  REMOVE t.embedding, t.token_states
}
WITH p, event
WHERE size(event.turn_ids) > 0
SET p.turns_compressed = true
WITH p, event
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(p)
RETURN p.id AS id
