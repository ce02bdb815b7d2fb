// Mark a tenant that moves, so that its writes are refused. An existing mark is replaced.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $tenant   string  full-text token of the tenant
//   $what     string  moved or arriving
//   $address  string  server to which it moved, or from which it arrives
// columns:

MERGE (t:Tombstone {tenant: $tenant, key: 'move'})
SET t.what = $what, t.address = $address, t.erased_at = datetime.truncate('microsecond', datetime.realtime('Z'))
