// Return the predicate templates that apply in the write scope, and existing beliefs, from which statements are built and
// embedded.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek NodeIndexSeek
// params:
//   $predicates  list  predicate keys
//   $belief_ids  list  ids of beliefs that may exist
// columns:
//   - templates  list  maps: key, template
//   - beliefs    list  maps of existing beliefs with an embedding: id, statement, worded_at

RETURN
  COLLECT {
    UNWIND $predicates AS predicate_key
    // include: fragments/declaration.cypher
    FILTER declared.template IS NOT NULL
    RETURN declared {.key, .template}
  } AS templates,
  COLLECT {
    MATCH (b:Belief {tenant: $tenant})
    WHERE b.id IN $belief_ids AND b.unembedded IS NULL
    RETURN b {.id, .statement, .worded_at}
  } AS beliefs
