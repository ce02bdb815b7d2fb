// Take a checkpoint away: one that holds nothing, or any.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant   string   tenant name
//   $slot_id  string   of the slot
//   $whole    boolean  one that holds something, too
// columns:

MATCH (c:Checkpoint {tenant: $tenant, slot_id: $slot_id})
WHERE $whole OR c.until IS NULL
DELETE c
