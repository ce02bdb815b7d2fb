// Append the events of a batch and make the memories that are new.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant      string  whose
//   $tenant_key  string  its full-text token
//   $memories    list    new ones: id, scope, scope_key, content, content_hash, embedding, occurred_at, tags
//   $events      list    in order: id, memory_id, episode_id, turn_id, tags (the memory's, from now on) and the event's own fields
// columns:
//   - written      integer  events appended
//   - in_episodes  integer  of them linked to their episode
//   - in_turns     integer  of them linked to the turn they quote

CALL () {
  UNWIND $memories AS memory
  CREATE (m:Memory {
    tenant: $tenant,
    tenant_key: $tenant_key,
    id: memory.id,
    scope: memory.scope,
    scope_key: memory.scope_key,
    content: memory.content,
    content_hash: memory.content_hash,
    tags: memory.tags,
    status: 'current',
    created_at: memory.occurred_at,
    recorded_at: datetime.truncate('microsecond', datetime.realtime('Z'))
  })
  WITH m, memory
  CALL db.create.setNodeVectorProperty(m, 'embedding', memory.embedding)
}
CALL () {
  UNWIND $events AS event
  MATCH (m:Memory {tenant: $tenant, id: event.memory_id})
  SET m.tags = event.tags,
      m.created_at = CASE
        WHEN event.scope = m.scope AND event.occurred_at < m.created_at THEN event.occurred_at
        ELSE m.created_at
      END
  // include: fragments/append_event.cypher
  CREATE (e)-[:REINFORCES]->(m)
  WITH e, event
  OPTIONAL MATCH (episode:Episode {tenant: $tenant, id: event.episode_id})
  OPTIONAL MATCH (turn:Turn {tenant: $tenant, id: event.turn_id})
  FOREACH (x IN CASE WHEN episode IS NULL THEN [] ELSE [episode] END | CREATE (e)-[:OCCURRED_IN]->(x))
  FOREACH (x IN CASE WHEN turn IS NULL THEN [] ELSE [turn] END | CREATE (e)-[:QUOTES]->(x))
  RETURN count(e) AS written, count(episode) AS in_episodes, count(turn) AS in_turns
}
RETURN written, in_episodes, in_turns
