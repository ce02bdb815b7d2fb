// Return whether the erasure that wrote a tombstone has been recorded, which is its last step.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $tenant  string  full-text token of the tenant
//   $key     string  digest: see erasure/rules.py
// columns:
//   - recorded  boolean  whether it was recorded; false if there is no such tombstone

// CartesianProduct: the tombstone is a single row.
RETURN EXISTS {
  MATCH (t:Tombstone {tenant: $tenant, key: $key})
  MATCH (record:Tombstone)
  WHERE record.tenant = $tenant AND record.key STARTS WITH 'erasure_' AND record.digest = $key AND record.erased_at >= t.erased_at
} AS recorded
