// Store the keys of the values of memories or beliefs, copy the rulings about these from their tombstones, and update
// the status.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// refers_to: items.id label
// params:
//   $items  list  maps: label (Memory or Belief), id, value_key, statement_key
// columns:

UNWIND $items AS row
MATCH (m:Memory|Belief {tenant: $tenant, id: row.id})
WHERE row.label IN labels(m)
SET m.value_key = row.value_key, m.statement_key = row.statement_key, m.rulings = null, m.ruled_at = null, m.ruled_known = null,
    m.ruled_scopes = null, m.ruled_paths = null
WITH m
// include: fragments/take_rulings.cypher
// include: fragments/refresh_status.cypher
