// Collect the names of the subject of a slot, by the aliases that apply to facts of its scope.
// needs: subject_key, scope (of the slot; null: none)
// leaves: names (folded, with `subject_key` first)
// twin: oracles/names.py ways

LET canonical = coalesce(COLLECT {
  LET named = subject_key, named_in = scope
  // include: fragments/canonical_name.cypher
}[0], subject_key)
LET others = COLLECT {
  MATCH (target:Name {tenant: $tenant, key: canonical})<-[:NAMES]-(:Event {tenant: $tenant})-[:CONCERNS]->(n:Name)
  WHERE n.tenant = $tenant AND target.scope IN [$scope, scope, 'global']
  WITH DISTINCT n.key AS named, scope AS named_in
  FILTER canonical = COLLECT {
    // include: fragments/canonical_name.cypher
  }[0]
  RETURN named
  ORDER BY named
}
LET names = [subject_key] + [key IN [canonical] + others WHERE key <> subject_key]
