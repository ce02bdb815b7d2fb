// Extend the lifetime of items that were read, unless they have expired.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  item ids, sorted

UNWIND $ids AS id
MATCH (i:Item {tenant: $tenant, id: id})
WHERE i.scope = $scope
// Lock before reading: another writer may have replaced the item by one that does not expire.
SET i.locked_at = datetime.realtime('Z')
WITH i
FILTER i.expires_at > $valid AND i.ttl_minutes IS NOT NULL
SET i.expires_at = $valid + duration({seconds: 60 * i.ttl_minutes})
