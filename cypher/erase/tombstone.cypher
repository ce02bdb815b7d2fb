// Store tombstones of erased data. Existing tombstones are not changed.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $tenant  string  full-text token of the tenant
//   $keys    list    digests, sorted: see erasure/rules.py
// columns:

UNWIND $keys AS key
MERGE (t:Tombstone {tenant: $tenant, key: key})
ON CREATE SET t.erased_at = datetime.truncate('microsecond', datetime.realtime('Z'))
