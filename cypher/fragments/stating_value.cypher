// Match the memories and beliefs `m` that state the value of `r`, a tombstone, in its scope; in every scope if it is
// that of all scopes, global.
// needs: r
// leaves: m

CALL (r) {
  MATCH (m:Memory)
  WHERE m.tenant = $tenant AND m.value_key = r.value_key AND r.scope IN [m.scope, 'global']
  RETURN m
UNION ALL
  MATCH (m:Belief)
  WHERE m.tenant = $tenant AND m.value_key = r.value_key AND r.scope IN [m.scope, 'global']
  RETURN m
}
