// List the digest files to which episodes were graduated.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scope     string  scope of the episodes; null: all scopes
//   $episodes  list    ids of the episodes; null: all episodes
// columns:
//   - file  string  name of a file, without its folder

MATCH (e:Event)
USING INDEX e:Event(tenant, type, recorded_at)
WHERE e.tenant = $tenant AND e.type = 'GRADUATE' AND e.recorded_at IS NOT NULL
  AND ($scope IS NULL OR e.scope = $scope)
  AND ($episodes IS NULL OR EXISTS { MATCH (e)-[:CONCERNS]->(p:Episode {tenant: $tenant}) WHERE p.id IN $episodes })
RETURN DISTINCT e.artifact_ref AS file
ORDER BY file
