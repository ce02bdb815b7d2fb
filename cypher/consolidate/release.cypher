// Release the lease. A finished run stores its snapshot time as the cursor; an unfinished run keeps it for the next
// worker.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant    string   tenant name
//   $scope     string   scope name
//   $owner     string   owner of the lease
//   $finished  boolean  whether every cluster was completed
// columns:

MATCH (c:Consolidation {tenant: $tenant, scope: $scope})
WHERE c.owner = $owner
SET c.owner = null,
    c.until = null,
    c.cursor = CASE WHEN $finished THEN c.known ELSE c.cursor END,
    c.known = CASE WHEN $finished THEN null ELSE c.known END
