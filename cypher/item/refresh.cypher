// Let items that were read live on for as long again, unless they have expired.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string    tenant name
//   $scope   string    scope name
//   $ids     list      of items, sorted
//   $valid   datetime  when they were read

UNWIND $ids AS id
MATCH (i:Item {tenant: $tenant, id: id})
WHERE i.scope = $scope
// Locked before it is looked at: another writer may have put something here that does not expire.
SET i.locked_at = datetime.realtime('Z')
WITH i
FILTER i.expires_at > $valid AND i.ttl_minutes IS NOT NULL
SET i.expires_at = $valid + duration({seconds: 60 * i.ttl_minutes})
