// Create an episode unless it exists, and return its request hash.
// mode: write
// rows: one
// plan: MergeUniqueNode
// writes_ids: episode.id Episode
// params:
//   $episode  map  id, scope, scope_key, session_id, summary, content, entities, importance, stated (names of the three fields that a caller gave), trust (rank of a given text; null: none), occurred_at, request_hash, embedding of its summary or content (or null), token_states (bytes or null)
// columns:
//   - request_hash  string  hash of the request that created it
//   - summary       string  its summary; null: none
//   - id            string  episode id

MERGE (p:Episode {tenant: $tenant, id: $episode.id})
ON CREATE SET
  p.scope = $episode.scope, p.session_id = $episode.session_id, p.summary = $episode.summary, p.content = $episode.content,
  p.entities = $episode.entities, p.importance = $episode.importance, p.occurred_at = $episode.occurred_at,
  p.request_hash = $episode.request_hash, p.stated = $episode.stated, p.tenant_key = $tenant_key,
  p.scope_key = $episode.scope_key, p.trust = $episode.trust,
  p.recorded_at = datetime.truncate('microsecond', datetime.realtime('Z'))
CALL (p) {
  WITH p
  WHERE p.embedding IS NULL AND $episode.embedding IS NOT NULL AND p.request_hash = $episode.request_hash
  CALL db.create.setNodeVectorProperty(p, 'embedding', $episode.embedding)
  SET p.token_states = $episode.token_states
}
RETURN p.request_hash AS request_hash, p.summary AS summary, p.id AS id
