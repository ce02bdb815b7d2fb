// What is known before statements are worded and embedded: how predicates read aloud, and which beliefs are there.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant      string  tenant name
//   $predicates  list    keys of predicates
//   $belief_ids  list    of beliefs that may be there
// columns:
//   - templates  list  maps: key, template
//   - beliefs    list  maps of those that are there and embedded: id, statement, worded_at

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
