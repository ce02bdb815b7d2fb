// Return the declared cardinality of predicates, from the newest declaration of each. Undeclared ones are left out.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $predicates  list  predicate keys
// columns:
//   - key          string  predicate key
//   - cardinality  string  ONE or MANY

UNWIND $predicates AS key
MATCH (p:Predicate {tenant: $tenant, key: key})
RETURN p.key AS key, p.cardinality AS cardinality
