// List tenants with data, by name, and count what they store. Search logs alone do not count. Paged.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $after  string   last tenant of the previous page; '' for the first page
//   $limit  integer  maximum number of tenants
// columns:
//   - name        string   tenant name
//   - memories    integer  number of memories
//   - beliefs     integer  number of beliefs
//   - episodes    integer  number of episodes
//   - namespaces  integer  number of item namespaces

// Each tenant is found from the one before it by the index: it takes no longer if they store more.
UNWIND reduce(found = [], i IN range(1, $limit) | found + COLLECT {
  LET last = coalesce(found[-1], $after)
  FILTER size(found) = i - 1
  CALL (last) {
    MATCH (n:Tenant)
    WHERE n.tenant > last
    RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
  UNION ALL
    MATCH (n:Memory)
    WHERE n.tenant > last AND n.id > ''
    RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
  UNION ALL
    MATCH (n:Belief)
    WHERE n.tenant > last AND n.id > ''
    RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
  UNION ALL
    MATCH (n:Episode)
    WHERE n.tenant > last AND n.id > ''
    RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
  UNION ALL
    MATCH (n:Namespace)
    WHERE n.tenant > last AND n.id > ''
    RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
  }
  RETURN tenant ORDER BY tenant LIMIT 1
}) AS name
RETURN name,
       COUNT { MATCH (n:Memory) WHERE n.tenant = name AND n.id IS NOT NULL } AS memories,
       COUNT { MATCH (n:Belief) WHERE n.tenant = name AND n.id IS NOT NULL } AS beliefs,
       COUNT { MATCH (n:Episode) WHERE n.tenant = name AND n.id IS NOT NULL } AS episodes,
       COUNT { MATCH (n:Namespace) WHERE n.tenant = name AND n.id IS NOT NULL } AS namespaces
ORDER BY name
