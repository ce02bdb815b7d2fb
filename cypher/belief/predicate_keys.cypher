// Return one page of the predicate keys of a tenant's beliefs, by belief id, and all keys of its declared predicates.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $after  string   id of the last belief of the previous page; '' for the first page
//   $limit  integer  maximum number of beliefs
// columns:
//   - beliefs   list  maps: id, scope, slot_id, subject_key, predicate_key or null
//   - declared  list  keys of declared predicates

RETURN
  COLLECT {
    MATCH (b:Belief)
    WHERE b.tenant = $tenant AND b.id > $after
    RETURN b {.id, .scope, .slot_id, .subject_key, .predicate_key}
    ORDER BY b.tenant, b.id
    LIMIT $limit
  } AS beliefs,
  COLLECT {
    MATCH (p:Predicate)
    WHERE p.tenant = $tenant AND p.key > ''
    RETURN p.key
  } AS declared
