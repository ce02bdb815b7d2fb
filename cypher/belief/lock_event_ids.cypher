// Lock event ids until the transaction ends. Of two writers of one id, the second sees the event of the first. A node
// is created and deleted; the lock on its index entry remains.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $ids  list  event ids, sorted
// columns:

UNWIND $ids AS id
MERGE (n:NameLock {tenant: $tenant, key: id})
DELETE n
