// Return the declared cardinality of predicates for what the reader writes, from the nearest declaration of each. Undeclared
// ones are left out, unless beliefs of the write scope use them.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $predicates  list     predicate keys
//   $uses        boolean  whether to look for the uses of predicates, which reads all beliefs of the write scope
// columns:
//   - key          string   predicate key
//   - cardinality  string   ONE or MANY; null: undeclared
//   - used         boolean  whether a belief of the write scope uses it; false if not looked for

UNWIND $predicates AS predicate_key
// include: fragments/declaration.cypher
LET used = $uses AND EXISTS {
  MATCH (b:Belief)
  WHERE b.tenant = $tenant AND b.scope = $scope AND b.subject_key IS NOT NULL AND b.predicate_key = predicate_key
}
FILTER declared IS NOT NULL OR used
RETURN predicate_key AS key, declared.cardinality AS cardinality, used
