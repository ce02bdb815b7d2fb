// Move the full texts of episodes into archives and append COMPRESS events. The embedding is kept. Episodes that were
// compressed meanwhile, or accessed or restored since a given time, are skipped.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// refers_to: events.about Episode
// params:
//   $events  list  maps: about (the episode's id), archive_id, sha256 of the text, gist (the text that remains; null: the summary remains), since and the event properties
// columns:
//   - id  string  id of a compressed episode

UNWIND $events AS event
MATCH (p:Episode {tenant: $tenant, id: event.about})
// Writing before reading takes the write lock, so concurrent writers are serialised.
SET p.locked_at = datetime.realtime('Z')
WITH p, event
WHERE p.content IS NOT NULL
  AND NOT EXISTS { (p)<-[:ACCESSED]-(x:Event {tenant: $tenant}) WHERE x.occurred_at > event.since }
  AND NOT EXISTS { (p)<-[:CONCERNS]-(x:Event {tenant: $tenant, type: 'RESTORE'}) WHERE x.occurred_at > event.since }
CREATE (a:Archive {
  tenant: $tenant,
  id: event.archive_id,
  scope: p.scope,
  episode_id: p.id,
  content: p.content,
  sha256: event.sha256,
  recorded_at: datetime.truncate('microsecond', datetime.realtime('Z'))
})
CREATE (p)-[:ARCHIVED_AS]->(a)
SET p.content = null,
    p.gist = event.gist
WITH p, event
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(p)
RETURN p.id AS id
