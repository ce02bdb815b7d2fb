// Return when a worker last ran any job of each of the given tenants.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenants  list  tenant names
// columns:
//   - tenant     string    tenant name
//   - served_at  datetime  end of the newest run of a job; null: none has ended

UNWIND $tenants AS tenant
OPTIONAL MATCH (j:Job {tenant: tenant})
WHERE j.name IS NOT NULL
RETURN tenant, max(j.served_at) AS served_at
