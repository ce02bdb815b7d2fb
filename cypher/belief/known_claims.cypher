// Return predicate templates and existing beliefs, before statements are built and embedded.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $predicates  list  predicate keys
//   $belief_ids  list  ids of beliefs that may exist
// columns:
//   - templates  list  maps: key, template
//   - beliefs    list  maps of existing beliefs with an embedding: id, statement, worded_at

RETURN
  COLLECT {
    MATCH (p:Predicate {tenant: $tenant})
    WHERE p.key IN $predicates AND p.template IS NOT NULL
    RETURN p {.key, .template}
  } AS templates,
  COLLECT {
    MATCH (b:Belief {tenant: $tenant})
    WHERE b.id IN $belief_ids AND b.unembedded IS NULL
    RETURN b {.id, .statement, .worded_at}
  } AS beliefs
