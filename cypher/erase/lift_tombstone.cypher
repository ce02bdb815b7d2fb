// Remove a tombstone, so that its key is no longer refused.
// mode: write
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  full-text token of the tenant
//   $key     string  digest: see erasure/rules.py
// columns:
//   - erased_at  datetime  time of the erasure

MATCH (t:Tombstone {tenant: $tenant, key: $key})
WITH t, t.erased_at AS erased_at
DELETE t
RETURN erased_at
