// Collect the names of the subject of a slot.
// needs: subject_key
// leaves: names (folded, with `subject_key` first)
// twin: oracles/names.py ways

LET canonical = coalesce(COLLECT {
  MATCH (n:Name {tenant: $tenant, key: subject_key})
  // include: fragments/canonical_name.cypher
}[0], subject_key)
LET others = COLLECT {
  MATCH (:Name {tenant: $tenant, key: canonical})<-[:NAMES]-(:Event)-[:CONCERNS]->(n:Name)
  WHERE n.tenant = $tenant
  WITH DISTINCT n
  WHERE canonical = COLLECT {
    // include: fragments/canonical_name.cypher
  }[0]
  RETURN n.key
  ORDER BY n.key
}
LET names = [subject_key] + [key IN [canonical] + others WHERE key <> subject_key]
