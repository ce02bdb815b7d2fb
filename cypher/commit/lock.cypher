// Write-lock the tenant's node, so that decisions about what is already there are taken one at a time. A statement of
// its own: SEARCH sees the index as it was when its statement began. Measured, 16 near-identical texts at once: without
// a lock 11 to 16 memories, with lock and search in one statement 7 to 16, like this 1.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $tenant  string  tenant name
// columns:

MERGE (t:Tenant {tenant: $tenant})
SET t.locked_at = datetime.realtime('Z')
