// List current beliefs with evidence from consolidation. Paged by id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $known  datetime  upper bound of known time
//   $after  string    id of the last row of the previous page; '' for the first page
// columns:
//   - id  string  belief id

MATCH (b:Belief)
USING INDEX b:Belief(tenant, id)  // sort key of pages; by age, every page would sort every belief
WHERE b.tenant = $tenant AND b.scope = $scope AND b.created_at <= $known AND b.id > $after AND b.status = 'current' AND b.rejected IS NULL
  AND EXISTS { (b)<-[:SUPPORTS]-(x:Event {tenant: $tenant, source: 'consolidation'}) WHERE x.recorded_at <= $known }
RETURN b.id AS id
ORDER BY id
LIMIT $limit
