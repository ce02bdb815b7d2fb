// Lock the checkpoint of a slot until the transaction ends, and create an empty one if needed. Every transaction before
// the returned time has ended. A separate statement, so that the next one sees earlier retractions.
// mode: write
// rows: one
// plan: MergeUniqueNode
// params:
//   $slot_id    string  slot id
//   $longest_s  float   transaction timeout in seconds
// columns:
//   - settled  datetime  server time minus $longest_s: every transaction that recorded before it has ended

MERGE (c:Checkpoint {tenant: $tenant, slot_id: $slot_id})
SET c.locked_at = datetime.realtime('Z')
RETURN datetime.truncate('microsecond', c.locked_at - duration({microseconds: toInteger($longest_s * 1e6)})) AS settled
