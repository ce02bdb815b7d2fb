// Keep that some things were erased; one that is kept already stays as it is.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $tenant  string  full-text token of whose
//   $keys    list    digests, sorted: see rules/erasure.py
// columns:

UNWIND $keys AS key
MERGE (t:Tombstone {tenant: $tenant, key: key})
ON CREATE SET t.erased_at = datetime.truncate('microsecond', datetime.realtime('Z'))
