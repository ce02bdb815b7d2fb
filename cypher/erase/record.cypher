// Store the record of an erasure: a tombstone whose key is the id of the record, not a digest.
// mode: write
// rows: one
// plan: MergeUniqueNode
// params:
//   $tenant  string  full-text token of the tenant
//   $id      string  id of the record; starts with erasure_
//   $what    string  kind of the erased data
//   $digest  string  key of the tombstone of the erased data
//   $actor   string  who asked for it; null: not given
//   $reason  string  why; null: not given
//   $counts  string  JSON map of the number of erased nodes by label
// columns:
//   - erased_at  datetime  time of the record

MERGE (t:Tombstone {tenant: $tenant, key: $id})
ON CREATE SET t.erased_at = datetime.truncate('microsecond', datetime.realtime('Z')),
              t.what = $what, t.digest = $digest, t.actor = $actor, t.reason = $reason, t.counts = $counts
RETURN t.erased_at AS erased_at
