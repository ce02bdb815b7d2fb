// Return whether a tenant has any data; search logs alone do not count.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// columns:
//   - known  boolean  true if anything is stored for the tenant

RETURN EXISTS { (:Tenant {tenant: $tenant}) }
    OR EXISTS { MATCH (n:Memory) WHERE n.tenant = $tenant AND n.id IS NOT NULL }
    OR EXISTS { MATCH (n:Belief) WHERE n.tenant = $tenant AND n.id IS NOT NULL }
    OR EXISTS { MATCH (n:Episode) WHERE n.tenant = $tenant AND n.id IS NOT NULL }
    OR EXISTS { MATCH (n:Namespace) WHERE n.tenant = $tenant AND n.id IS NOT NULL } AS known
