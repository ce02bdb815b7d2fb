// Update the keys by which nodes are found. Run it after commit/lock.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $nodes  list  maps: label, id, tenant_key, scope_key, slot_id (null: no belief)
// columns:

UNWIND $nodes AS row
WITH row, row.label AS label, row.id AS key
// include: fragments/node_by_key.cypher
FILTER x IS NOT NULL
SET x.tenant_key = row.tenant_key, x.scope_key = row.scope_key, x.slot_id = row.slot_id
