// Hold event ids until the transaction ends, so that of two writers about one id the second sees what the first wrote. A
// node is made and taken away again: what remains is the lock on its entry in the index.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $tenant  string  tenant name
//   $ids     list    of events, sorted
// columns:

UNWIND $ids AS id
MERGE (n:NameLock {tenant: $tenant, key: id})
DELETE n
