// Return those of the given tenants that have a long call which no process runs.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenants  list  tenant names
// columns:
//   - tenant  string  tenant name

UNWIND $tenants AS tenant
MATCH (u:JobUnit {tenant: tenant})
WHERE u.id STARTS WITH 'op_'
LET now = datetime.realtime('Z')
// A time hours ahead shows that the clock was set back.
FILTER u.due_at <= now OR u.due_at > now + duration({hours: 2})
RETURN DISTINCT tenant
