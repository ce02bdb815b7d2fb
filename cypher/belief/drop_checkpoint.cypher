// Delete the checkpoint of a slot if it is empty, or in any case.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $slot_id  string   slot id
//   $whole    boolean  also delete a checkpoint that is not empty
// columns:

MATCH (c:Checkpoint {tenant: $tenant, slot_id: $slot_id})
WHERE $whole OR c.until IS NULL
DELETE c
