// Return the trust of a memory. No row: no visible memory has this id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string    tenant name
//   $scopes  list      read scopes
//   $id      string    memory id
//   $valid   datetime  upper bound of valid time
//   $known   datetime  upper bound of known time; null: no bound
// columns:
//   - trust  integer  its rank, see rules/trust.py

MATCH (m:Memory {tenant: $tenant, id: $id})
WHERE m.scope IN $scopes
LET valid = $valid
// include: fragments/memory_trust.cypher
RETURN trust
