// Lock the checkpoint of a slot until the transaction ends, and create an empty one if needed. Returns the time before
// which all transactions have ended. As a separate statement, it lets the next one see earlier retractions.
// mode: write
// rows: one
// plan: MergeUniqueNode
// params:
//   $tenant     string  tenant name
//   $slot_id    string  slot id
//   $longest_s  float   transaction timeout in seconds
// columns:
//   - settled  datetime  server time minus $longest_s: every transaction that recorded before it has ended

MERGE (c:Checkpoint {tenant: $tenant, slot_id: $slot_id})
SET c.locked_at = datetime.realtime('Z')
RETURN datetime.truncate('microsecond', c.locked_at - duration({microseconds: toInteger($longest_s * 1e6)})) AS settled
