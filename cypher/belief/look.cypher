// What a write about beliefs meets: events already committed under its ids, and beliefs that it is about.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant      string  tenant name
//   $scopes      list    scopes the writer can see
//   $event_ids   list    of the events to be written, or of those to be retracted
//   $belief_ids  list    of the beliefs
// columns:
//   - events   list  maps: id, scope, type, request_hash, payload, speaks (whether it supports or refutes something)
//   - beliefs  list  maps: id, scope, status, head_ids, and the fields of a claim

RETURN
  COLLECT {
    MATCH (e:Event {tenant: $tenant})
    WHERE e.id IN $event_ids
    RETURN e {.id, .scope, .type, .request_hash, .payload, speaks: EXISTS { (e)-[:SUPPORTS|REFUTES]->() }}
  } AS events,
  COLLECT {
    MATCH (b:Belief {tenant: $tenant})
    WHERE b.id IN $belief_ids AND b.scope IN $scopes
    RETURN b {
      .id, .scope, .scope_key, .slot_id, .status, .statement, .subject, .predicate, .object,
      .subject_key, .predicate_key, .object_key
    }
  } AS beliefs
