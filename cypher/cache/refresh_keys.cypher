// Update the keys by which nodes are found. Run it after commit/lock.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $nodes  list  maps: label, id, tenant_key, scope_key, slot_id (null: no belief)
// columns:

UNWIND $nodes AS row
CALL (row) {
  FILTER row.label = 'Memory'
  MATCH (x:Memory {tenant: $tenant, id: row.id})
  RETURN x
UNION ALL
  FILTER row.label = 'Belief'
  MATCH (x:Belief {tenant: $tenant, id: row.id})
  RETURN x
UNION ALL
  FILTER row.label = 'Turn'
  MATCH (x:Turn {tenant: $tenant, id: row.id})
  RETURN x
UNION ALL
  FILTER row.label = 'Episode'
  MATCH (x:Episode {tenant: $tenant, id: row.id})
  RETURN x
}
SET x.tenant_key = row.tenant_key, x.scope_key = row.scope_key, x.slot_id = row.slot_id
