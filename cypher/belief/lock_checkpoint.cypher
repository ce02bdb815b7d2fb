// Hold a slot's checkpoint, made empty when there is none, until the transaction ends; say up to when nothing can be under way.
// A statement of its own, so that what follows sees what was retracted before.
// mode: write
// rows: one
// plan: MergeUniqueNode
// params:
//   $tenant     string  tenant name
//   $slot_id    string  of the slot
//   $longest_s  float   longest transaction allowed, seconds
// columns:
//   - settled  datetime  server's clock, so long ago that every write recorded before has ended

MERGE (c:Checkpoint {tenant: $tenant, slot_id: $slot_id})
SET c.locked_at = datetime.realtime('Z')
RETURN datetime.truncate('microsecond', c.locked_at - duration({microseconds: toInteger($longest_s * 1e6)})) AS settled
