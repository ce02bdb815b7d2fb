// The newest memories of a scope with their events and what they replaced, to look at in Neo4j Browser.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string   whose
//   $scope   string   one scope
//   $limit   integer  memories at most
// columns:
//   - m  node  the memory
//   - e  node  one of its events, or null
//   - r  relationship  from the event to the memory
//   - s  relationship  from it to a memory it replaced, or null
//   - older  node  that memory

MATCH (m:Memory)
WHERE m.tenant = $tenant AND m.scope = $scope AND m.created_at IS NOT NULL
WITH m
ORDER BY m.created_at DESC
LIMIT $limit
OPTIONAL MATCH (m)<-[r:REINFORCES]-(e:Event)
OPTIONAL MATCH (m)-[s:SUPERSEDES]->(older:Memory {tenant: $tenant})
RETURN m, e, r, s, older
