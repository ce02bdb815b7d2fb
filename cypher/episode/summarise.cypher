// Store the summary, entities and importance of an episode's turns, except those that a caller gave, and the reply of a
// model that they come from. No row: turns were added meanwhile.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// refers_to: episode.id Episode
// params:
//   $episode  map  id, scope_key, turns (their number), method, summary, entities, importance, embedding of the summary (or null), token_states (bytes or null)
//   $reply    map  id, done, synthesiser, decided (JSON) or null, raw (model output) or null, problem or null, calls, tokens_in, tokens_out, cost_usd or null; null: no model was called
// columns:
//   - id  string  episode id

MATCH (p:Episode {tenant: $tenant, id: $episode.id})
WHERE p.scope = $scope
// Writing before reading takes the write lock, so no turn is added meanwhile.
SET p.locked_at = datetime.realtime('Z')
WITH p
WHERE COUNT { (:Turn {tenant: $tenant})-[:OCCURRED_IN]->(p) } = $episode.turns
// include: fragments/stated_fields.cypher
SET p.stated = stated, p.tenant_key = $tenant_key, p.scope_key = $episode.scope_key
WITH p, stated
CALL (p, stated) {
  FILTER $episode.method IS NOT NULL
  SET p.summarised_turns = $episode.turns,
      p.summarised_by = $episode.method,
      p.summary = CASE WHEN 'summary' IN stated THEN p.summary ELSE $episode.summary END,
      p.entities = CASE WHEN 'entities' IN stated THEN p.entities ELSE $episode.entities END,
      p.importance = CASE WHEN 'importance' IN stated THEN p.importance ELSE $episode.importance END
}
CALL (p, stated) {
  FILTER $episode.embedding IS NOT NULL AND NOT 'summary' IN stated
  CALL db.create.setNodeVectorProperty(p, 'embedding', $episode.embedding)
  SET p.token_states = $episode.token_states
}
CALL (p) {
  FILTER $reply IS NOT NULL
  MERGE (r:Reply {tenant: $tenant, id: $reply.id})
  ON CREATE SET r.attempts = 0
  SET r.scope = $scope, r.kind = 'summary', r.done = $reply.done, r.synthesiser = $reply.synthesiser, r.decided = $reply.decided,
      r.raw = $reply.raw, r.problem = $reply.problem, r.attempts = r.attempts + CASE WHEN $reply.done THEN 0 ELSE 1 END,
      r.calls = coalesce(r.calls, 0) + $reply.calls, r.tokens_in = coalesce(r.tokens_in, 0) + $reply.tokens_in,
      r.tokens_out = coalesce(r.tokens_out, 0) + $reply.tokens_out,
      r.cost_usd = coalesce(r.cost_usd, 0.0) + coalesce($reply.cost_usd, 0.0),
      r.recorded_at = datetime.truncate('microsecond', datetime.realtime('Z'))
  MERGE (r)-[:RESTS_ON]->(p)
}
RETURN p.id AS id
