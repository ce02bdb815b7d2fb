// Give the lease back. A finished run leaves what it had seen; an unfinished one what the next worker is to go on with.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant    string   tenant name
//   $scope     string   scope name
//   $owner     string   who holds it
//   $finished  boolean  every cluster was seen to
// columns:

MATCH (c:Consolidation {tenant: $tenant, scope: $scope})
WHERE c.owner = $owner
SET c.owner = null,
    c.until = null,
    c.cursor = CASE WHEN $finished THEN c.known ELSE c.cursor END,
    c.known = CASE WHEN $finished THEN null ELSE c.known END
