// Match the memories and beliefs `m` of every scope that state the value of `r`, a tombstone.
// needs: r
// leaves: m

CALL (r) {
  MATCH (m:Memory)
  WHERE m.tenant = $tenant AND m.value_key = r.value_key
  RETURN m
UNION
  MATCH (m:Belief)
  WHERE m.tenant = $tenant AND m.value_key = r.value_key
  RETURN m
UNION
  MATCH (m:Belief)
  WHERE m.tenant = $tenant AND m.statement_key = r.value_key
  RETURN m
}
