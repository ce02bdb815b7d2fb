// Return the next scope of a tenant, by name, and count what it stores.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $after  string  previous scope; '' at the start
// columns:
//   - scope       string   scope name; null after the last one
//   - memories    integer  number of memories
//   - beliefs     integer  number of beliefs
//   - episodes    integer  number of episodes
//   - namespaces  integer  number of item namespaces

CALL () {
  MATCH (n:Memory)
  WHERE n.tenant = $tenant AND n.scope > $after AND n.created_at IS NOT NULL
  RETURN n.scope AS scope ORDER BY n.tenant, n.scope LIMIT 1
UNION ALL
  MATCH (n:Belief)
  WHERE n.tenant = $tenant AND n.scope > $after AND n.created_at IS NOT NULL
  RETURN n.scope AS scope ORDER BY n.tenant, n.scope LIMIT 1
UNION ALL
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.scope > $after AND n.recorded_at IS NOT NULL
  RETURN n.scope AS scope ORDER BY n.tenant, n.scope LIMIT 1
UNION ALL
  MATCH (n:Namespace)
  WHERE n.tenant = $tenant AND n.scope > $after AND n.path IS NOT NULL
  RETURN n.scope AS scope ORDER BY n.tenant, n.scope LIMIT 1
}
WITH min(scope) AS scope
RETURN scope,
       COUNT { MATCH (n:Memory) WHERE n.tenant = $tenant AND n.scope = scope AND n.created_at IS NOT NULL } AS memories,
       COUNT { MATCH (n:Belief) WHERE n.tenant = $tenant AND n.scope = scope AND n.created_at IS NOT NULL } AS beliefs,
       COUNT { MATCH (n:Episode) WHERE n.tenant = $tenant AND n.scope = scope AND n.recorded_at IS NOT NULL } AS episodes,
       COUNT { MATCH (n:Namespace) WHERE n.tenant = $tenant AND n.scope = scope AND n.path IS NOT NULL } AS namespaces
