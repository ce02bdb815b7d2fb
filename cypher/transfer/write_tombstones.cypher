// Copy tombstones of another graph; their keys are the same for a tenant of the same name.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $tenant  string  full-text token of the tenant
//   $rows    list    maps: key and has (properties)
// columns:

UNWIND $rows AS row
MERGE (t:Tombstone {tenant: $tenant, key: row.key})
SET t.erased_at = row.has.erased_at, t.what = row.has.what, t.digest = row.has.digest, t.actor = row.has.actor,
    t.reason = row.has.reason, t.counts = row.has.counts
