// Look up committed events and existing beliefs for a write. Returns the events with the given ids and the target
// beliefs.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $scopes      list  read scopes of the writer
//   $event_ids   list  ids of the events to be written or retracted
//   $belief_ids  list  ids of the target beliefs
// columns:
//   - events   list  maps: id, scope, type, request_hash, payload, trust (its rank, see rules/trust.py; null: none), speaks (whether it supports or refutes a belief)
//   - beliefs  list  maps: id, scope, status, head_ids, and the fields of a claim

RETURN
  COLLECT {
    MATCH (e:Event {tenant: $tenant})
    WHERE e.id IN $event_ids
    RETURN e {.id, .scope, .type, .request_hash, .payload, .trust, speaks: EXISTS { (e)-[:SUPPORTS|REFUTES]->() }}
  } AS events,
  COLLECT {
    MATCH (b:Belief {tenant: $tenant})
    WHERE b.id IN $belief_ids AND b.scope IN $scopes
    LET value_keys = CASE WHEN b.rulings IS NULL THEN [] ELSE [b.value_key, b.statement_key] END, until = null, recorded = null
    // include: fragments/rejection.cypher
    RETURN b {
      .id, .scope, .scope_key, .slot_id, status: CASE WHEN rejection IS NULL THEN b.status ELSE 'rejected' END, .statement, .subject, .predicate, .object,
      .subject_key, .predicate_key, .object_key, .depth
    }
  } AS beliefs
