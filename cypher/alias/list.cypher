// List the aliases in the scopes that the reader reads, by name and scope: all, or those that decide whether a name can
// become an alias of another.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $named  string  folded name, with its aliases; null: all names
//   $other  string  other folded name, without its aliases; null: none
// columns:
//   - alias  map  key, name, scope, same_key, same_as, event_id, occurred_at

CALL () {
  // A FILTER would be applied after reading all names.
  UNWIND CASE WHEN $named IS NULL THEN [1] ELSE [] END AS every
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.key IS NOT NULL AND n.scope IN $scopes
  RETURN n
UNION
  LET aliases = COLLECT {
    MATCH (target:Name {tenant: $tenant, key: $named})<-[:NAMES]-(:Event {tenant: $tenant})-[:CONCERNS]->(x:Name)
    WHERE target.scope IN $scopes AND x.tenant = $tenant
    RETURN x.key
  }
  UNWIND [$named, $other] + aliases AS key
  MATCH (n:Name {tenant: $tenant, key: key})
  WHERE n.scope IN $scopes
  RETURN n
}
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
