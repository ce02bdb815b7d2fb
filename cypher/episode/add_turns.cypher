// Append turns to an episode, in order. Its time is that of its earliest turn.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// refers_to: episode_id Episode
// params:
//   $episode_id  string  id of the session
//   $turns       list    in order: id, scope, scope_key, position, role, name, text, trust, occurred_at, time_zone, embedding or null, token_states (bytes or null)
// columns:
//   - added  integer  number of turns written

MATCH (p:Episode {tenant: $tenant, id: $episode_id})
LET earliest = coll.min([turn IN $turns | turn.occurred_at])
SET p.occurred_at = CASE WHEN $turns[0].position = 0 OR earliest < p.occurred_at THEN earliest ELSE p.occurred_at END
WITH p
UNWIND $turns AS turn
CREATE (t:Turn {
  tenant: $tenant,
  tenant_key: $tenant_key,
  id: turn.id,
  scope: turn.scope,
  scope_key: turn.scope_key,
  episode_id: p.id,
  position: turn.position,
  role: turn.role,
  name: turn.name,
  text: turn.text,
  trust: turn.trust,
  occurred_at: turn.occurred_at,
  time_zone: turn.time_zone,
  recorded_at: datetime.truncate('microsecond', datetime.realtime('Z'))
})
CREATE (t)-[:OCCURRED_IN]->(p)
WITH t, turn
CALL (t, turn) {
  WITH t, turn
  WHERE turn.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(t, 'embedding', turn.embedding)
  SET t.token_states = turn.token_states
}
WITH t
CALL (t) {
  MATCH (before:Turn {tenant: $tenant, episode_id: t.episode_id, position: t.position - 1})
  CREATE (before)-[:NEXT]->(t)
}
RETURN count(t) AS added
