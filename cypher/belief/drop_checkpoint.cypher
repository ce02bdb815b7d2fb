// Forget a checkpoint that holds nothing, or any when asked.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant   string   whose
//   $slot_id  string   of the slot
//   $any      boolean  one that holds something too
// columns:

MATCH (c:Checkpoint {tenant: $tenant, slot_id: $slot_id})
WHERE $any OR c.until IS NULL
DELETE c
