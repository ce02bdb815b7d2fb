// Update the fields of an episode that a caller gives; other fields are unchanged. New content replaces archived content. An
// UPDATE event names the fields that changed, and the importance before and after.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// writes_ids: event.id Event
// refers_to: episode.id Episode
// params:
//   $episode  map  id; summary, content, entities, importance and occurred_at, null: unchanged; trust (rank of a given text; null: none), stated (names of those that are given); embedding of the summary or content (or null), token_states (bytes or null)
//   $event    map  properties of the event without its payload
// columns:

MATCH (p:Episode {tenant: $tenant, id: $episode.id})
// Writing before reading takes the write lock: a summary of its turns must not replace a given one.
SET p.locked_at = datetime.realtime('Z')
WITH p
// include: fragments/stated_fields.cypher
LET changed = [x IN [
  {name: 'summary', differs: $episode.summary <> coalesce(p.summary, '')},
  {name: 'content', differs: $episode.content <> coalesce(p.content, '')},
  {name: 'entities', differs: $episode.entities <> coalesce(p.entities, [])},
  {name: 'importance', differs: $episode.importance <> p.importance},
  {name: 'at', differs: $episode.occurred_at <> p.occurred_at}
] WHERE x.differs | x.name], importance = p.importance
SET p.stated = coll.distinct(stated + $episode.stated),
    p.summary = coalesce($episode.summary, p.summary),
    p.content = coalesce($episode.content, p.content),
    p.entities = coalesce($episode.entities, p.entities),
    p.importance = coalesce($episode.importance, p.importance),
    p.occurred_at = coalesce($episode.occurred_at, p.occurred_at),
    // A text of another writer may remain, so the lowest class counts.
    p.trust = CASE WHEN $episode.trust < p.trust OR p.trust IS NULL THEN $episode.trust ELSE p.trust END,
    p.gist = CASE WHEN $episode.content IS NULL THEN p.gist END
WITH p, changed, importance
CALL (p) {
  WITH p
  WHERE $episode.content IS NOT NULL
  MATCH (p)-[:ARCHIVED_AS]->(a:Archive {tenant: $tenant})
  DETACH DELETE a
}
CALL (p) {
  WITH p
  WHERE $episode.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(p, 'embedding', $episode.embedding)
  SET p.token_states = $episode.token_states
}
CALL (p, changed, importance) {
  FILTER size(changed) > 0
  LET names = reduce(text = 'changed', name IN changed | text + CASE text WHEN 'changed' THEN ' ' ELSE ', ' END + name)
  LET numbers = CASE WHEN 'importance' IN changed THEN '; importance ' + toString(importance) + ' before, now ' + toString(p.importance) ELSE '' END
  LET given = $event
  LET event = given {.*, payload: '{"reason": "' + names + numbers + '"}'}
  // include: fragments/append_event.cypher
  CREATE (e)-[:CONCERNS]->(p)
}
