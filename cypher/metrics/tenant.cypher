// Count what a tenant stores, over all its scopes.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// columns:
//   - memories    integer  number of memories
//   - beliefs     integer  number of beliefs
//   - episodes    integer  number of episodes
//   - namespaces  integer  number of item namespaces

RETURN COUNT { MATCH (n:Memory) WHERE n.tenant = $tenant AND n.id IS NOT NULL } AS memories,
       COUNT { MATCH (n:Belief) WHERE n.tenant = $tenant AND n.id IS NOT NULL } AS beliefs,
       COUNT { MATCH (n:Episode) WHERE n.tenant = $tenant AND n.id IS NOT NULL } AS episodes,
       COUNT { MATCH (n:Namespace) WHERE n.tenant = $tenant AND n.id IS NOT NULL } AS namespaces
