// Return the value of its slot that a belief `x` asserts: the canonical name of its object.
// needs: x
// leaves: value

LET value = coalesce(COLLECT {
  MATCH (n:Name {tenant: $tenant, key: x.object_key})
  // include: fragments/canonical_name.cypher
}[0], x.object_key, x.id)
