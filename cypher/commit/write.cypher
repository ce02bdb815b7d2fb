// Append the events of a batch and create the new memories.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event
// refers_to: events.memory_id Memory, events.episode_id Episode, events.turn_id Turn
// params:
//   $scopes  list  read scopes of the writer, in which episodes and turns are looked up
//   $events  list  in order: id, memory_id, memory, episode_id, turn_id, tags (new tags of the memory), tag_keys and source_key (their full-text tokens) and the event properties; memory is null if it exists, else scope_key, content, embedding and token_states (bytes or null)
// columns:
//   - written  integer  number of events appended
//   - missing  list     ids of episodes and turns that do not exist

UNWIND $events AS given
OPTIONAL MATCH (episode:Episode {tenant: $tenant, id: given.episode_id})
WHERE episode.scope IN $scopes
OPTIONAL MATCH (turn:Turn {tenant: $tenant, id: given.turn_id})
WHERE turn.scope IN $scopes
// include: fragments/trusted_event.cypher
CALL (event) {
  FILTER event.memory IS NOT NULL
  CREATE (m:Memory {
    tenant: $tenant,
    tenant_key: $tenant_key,
    id: event.memory_id,
    scope: event.scope,
    scope_key: event.memory.scope_key,
    content: event.memory.content,
    content_hash: event.content_hash,
    tags: event.tags,
    sources: [event.source],
    facet_keys: coll.sort(event.tag_keys + event.source_key),
    status: 'current',
    value_key: event.memory.value_key,
    created_at: event.occurred_at,
    recorded_at: datetime.truncate('microsecond', datetime.realtime('Z')),
    // The state that cache/retrace.cypher computes after one event.
    trace: 1.0,
    trace_at: event.occurred_at,
    trace_full_at: event.occurred_at,
    trace_burst: 0
  })
  WITH m, event
  CALL db.create.setNodeVectorProperty(m, 'embedding', event.memory.embedding)
  SET m.token_states = event.memory.token_states
  WITH m
  // include: fragments/take_rulings.cypher
  RETURN m
UNION ALL
  FILTER event.memory IS NULL
  MATCH (m:Memory {tenant: $tenant, id: event.memory_id})
  // Values are only added. The sources of another scope's events are not added to this memory.
  LET own = event.scope = m.scope
  SET m.tags = event.tags,
      m.sources = CASE WHEN own THEN coll.sort(coll.distinct(coalesce(m.sources, []) + event.source)) ELSE m.sources END,
      m.facet_keys = coll.sort(coll.distinct(
        coalesce(m.facet_keys, []) + event.tag_keys + CASE WHEN own THEN [event.source_key] ELSE [] END
      )),
      m.created_at = CASE
        WHEN own AND event.occurred_at < m.created_at THEN event.occurred_at
        ELSE m.created_at
      END
  RETURN m
}
// include: fragments/append_event.cypher
CREATE (e)-[:REINFORCES]->(m)
FOREACH (x IN CASE WHEN episode IS NULL THEN [] ELSE [episode] END | CREATE (e)-[:OCCURRED_IN]->(x))
FOREACH (x IN CASE WHEN turn IS NULL THEN [] ELSE [turn] END | CREATE (e)-[:QUOTES]->(x))
RETURN count(e) AS written,
       collect(DISTINCT CASE WHEN episode IS NULL THEN event.episode_id END)
         + collect(DISTINCT CASE WHEN turn IS NULL THEN event.turn_id END) AS missing
