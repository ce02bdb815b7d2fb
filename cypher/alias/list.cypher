// List the aliases in the scopes that the reader reads, by name and scope.
// mode: read
// rows: many
// plan: NodeIndexSeek
// columns:
//   - alias  map  key, name, scope, same_key, same_as, event_id, occurred_at

MATCH (n:Name)
WHERE n.tenant = $tenant AND n.key IS NOT NULL AND n.scope IN $scopes
CALL (n) {
  MATCH (n)<-[:CONCERNS]-(x:Event)
  RETURN x
  ORDER BY x.occurred_at DESC, x.id DESC
  LIMIT 1
}
MATCH (x)-[:NAMES]->(other:Name)
WHERE other.tenant = $tenant
RETURN {
  key: n.key, name: n.name, scope: n.scope, same_key: other.key, same_as: other.name, event_id: x.id, occurred_at: x.occurred_at
} AS alias
ORDER BY n.key, n.scope = $scope DESC, n.scope
