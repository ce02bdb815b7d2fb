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
// include: fragments/operation_due.cypher
RETURN DISTINCT tenant
