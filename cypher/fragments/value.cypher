// Which value of its slot a belief `x` is about: its object by the name that this stands for. Needs `x`; leaves `value`.

LET value = coalesce(COLLECT {
  MATCH (n:Name {tenant: $tenant, key: x.object_key})
  // include: fragments/called.cypher
}[0], x.object_key, x.id)
