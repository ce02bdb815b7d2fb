// Count the nodes of a tenant over all its scopes, by kind and by state or type.
// mode: read
// rows: many
// plan: NodeIndexSeek
// columns:
//   - kind   string   memory, belief, event, episode, turn, artifact or archive
//   - state  string   status of a memory or a belief, type of an event; null for other kinds
//   - items  integer  number of nodes, > 0

CALL () {
  // As with events, the index alone contains everything that is counted.
  MATCH (m:Memory)
  USING INDEX m:Memory(tenant, scope, status)
  WHERE m.tenant = $tenant AND m.scope IS NOT NULL AND m.status IS NOT NULL
  RETURN 'memory' AS kind, m.status AS state, count(*) AS items
UNION ALL
  MATCH (e:Event)
  USING INDEX e:Event(tenant, type, recorded_at)
  WHERE e.tenant = $tenant AND e.type IS NOT NULL AND e.recorded_at IS NOT NULL
  RETURN 'event' AS kind, e.type AS state, count(*) AS items
UNION ALL
  MATCH (b:Belief)
  WHERE b.tenant = $tenant AND b.id IS NOT NULL
  RETURN 'belief' AS kind, b.status AS state, count(*) AS items
UNION ALL
  MATCH (p:Episode)
  WHERE p.tenant = $tenant AND p.id IS NOT NULL
  RETURN 'episode' AS kind, null AS state, count(*) AS items
UNION ALL
  MATCH (u:Turn)
  WHERE u.tenant = $tenant AND u.id IS NOT NULL
  RETURN 'turn' AS kind, null AS state, count(*) AS items
UNION ALL
  MATCH (a:Artifact)
  WHERE a.tenant = $tenant AND a.id IS NOT NULL
  RETURN 'artifact' AS kind, null AS state, count(*) AS items
UNION ALL
  MATCH (x:Archive)
  WHERE x.tenant = $tenant AND x.id IS NOT NULL
  RETURN 'archive' AS kind, null AS state, count(*) AS items
}
WITH kind, state, items
WHERE items > 0
RETURN kind, state, items
ORDER BY kind, state
