// Return the value of its slot that a belief `x` asserts: the canonical name of its object.
// needs: x
// leaves: value

LET value = coalesce(COLLECT {
  LET named = x.object_key, named_in = x.scope
  // include: fragments/canonical_name.cypher
}[0], x.object_key, x.id)
