// List scopes of a tenant with data, by name, and count what they store. Paged.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $after  string   last scope of the previous page; '' for the first page
//   $limit  integer  maximum number of scopes
// columns:
//   - name        string   scope name
//   - memories    integer  number of memories
//   - beliefs     integer  number of beliefs
//   - episodes    integer  number of episodes
//   - namespaces  integer  number of item namespaces

// As in schema/tenants, each scope is found from the one before it.
UNWIND reduce(found = [], i IN range(1, $limit) | found + COLLECT {
  LET last = coalesce(found[-1], $after)
  FILTER size(found) = i - 1
  CALL (last) {
    MATCH (n:Memory)
    WHERE n.tenant = $tenant AND n.scope > last AND n.created_at IS NOT NULL
    RETURN n.scope AS scope ORDER BY n.tenant, n.scope LIMIT 1
  UNION ALL
    MATCH (n:Belief)
    WHERE n.tenant = $tenant AND n.scope > last AND n.created_at IS NOT NULL
    RETURN n.scope AS scope ORDER BY n.tenant, n.scope LIMIT 1
  UNION ALL
    MATCH (n:Episode)
    WHERE n.tenant = $tenant AND n.scope > last AND n.recorded_at IS NOT NULL
    RETURN n.scope AS scope ORDER BY n.tenant, n.scope LIMIT 1
  UNION ALL
    MATCH (n:Namespace)
    WHERE n.tenant = $tenant AND n.scope > last AND n.path IS NOT NULL
    RETURN n.scope AS scope ORDER BY n.tenant, n.scope LIMIT 1
  }
  RETURN scope ORDER BY scope LIMIT 1
}) AS name
RETURN name,
       COUNT { MATCH (n:Memory) WHERE n.tenant = $tenant AND n.scope = name AND n.created_at IS NOT NULL } AS memories,
       COUNT { MATCH (n:Belief) WHERE n.tenant = $tenant AND n.scope = name AND n.created_at IS NOT NULL } AS beliefs,
       COUNT { MATCH (n:Episode) WHERE n.tenant = $tenant AND n.scope = name AND n.recorded_at IS NOT NULL } AS episodes,
       COUNT { MATCH (n:Namespace) WHERE n.tenant = $tenant AND n.scope = name AND n.path IS NOT NULL } AS namespaces
ORDER BY name
