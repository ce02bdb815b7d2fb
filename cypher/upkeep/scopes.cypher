// List the scopes of a tenant that contain episodes, memories or beliefs, in order.
// mode: read
// rows: many
// plan: NodeIndexSeek
// columns:
//   - scope  string  scope name

CALL () {
  MATCH (n:Episode) WHERE n.tenant = $tenant AND n.scope IS NOT NULL AND n.occurred_at IS NOT NULL RETURN DISTINCT n.scope AS scope
UNION
  MATCH (n:Memory) WHERE n.tenant = $tenant AND n.scope IS NOT NULL AND n.created_at IS NOT NULL RETURN DISTINCT n.scope AS scope
UNION
  MATCH (n:Belief) WHERE n.tenant = $tenant AND n.scope IS NOT NULL AND n.created_at IS NOT NULL RETURN DISTINCT n.scope AS scope
}
RETURN scope
ORDER BY scope
