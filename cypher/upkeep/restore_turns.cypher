// Put compressed turns back into the search indexes.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// refers_to: turns.id Turn, episode_id Episode
// params:
//   $scope_key   string  full-text token of the scope
//   $episode_id  string  episode id
//   $turns       list    maps: id, embedding (or null), token_states (bytes or null)
// columns:

MATCH (p:Episode {tenant: $tenant, id: $episode_id})
SET p.turns_compressed = null
WITH p
UNWIND $turns AS turn
MATCH (t:Turn {tenant: $tenant, id: turn.id})
WHERE t.episode_id = p.id
SET t.compressed = null, t.tenant_key = $tenant_key, t.scope_key = $scope_key
WITH t, turn
CALL (t, turn) {
  FILTER turn.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(t, 'embedding', turn.embedding)
  SET t.token_states = turn.token_states
}
