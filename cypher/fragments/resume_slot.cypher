// Find the checkpoint from which a read of a slot can resume, and the events after it. Checkpoints exclude the newest
// events by valid time, so late events rarely fall into them.
// needs: slot_id, scope, names, predicate_key, valid, policy
// leaves: checkpoint (null if every event must be read), tail (a list of maps of b and e), members (of
// fragments/slot.cypher, to read every event)

CALL (slot_id, valid, policy) {
  OPTIONAL MATCH (c:Checkpoint {tenant: $tenant, slot_id: slot_id})
  WHERE $known IS NULL AND c.until <= valid AND c.weights_key = $weights_key AND CASE policy.cardinality
    WHEN 'ONE' THEN c.kappa = policy.kappa AND c.tau_days = policy.tau_days
    ELSE policy.decay_per_day = 0.0
  END
  RETURN c
}
CALL (slot_id, c) {
  CALL (slot_id, c) {
    UNWIND c.newest AS id
    MATCH (e:Event {tenant: $tenant, id: id})-[:SUPPORTS|REFUTES]->(b:Belief)
    FILTER b.slot_id = slot_id
    RETURN b, e
  UNION ALL
    MATCH (e:Event)-[r:SUPPORTS]->(b:Belief)
    WHERE e.tenant = $tenant AND r.tenant = $tenant AND r.slot_id = slot_id AND r.recorded_at > c.known_at
    RETURN b, e
  UNION ALL
    MATCH (e:Event)-[r:REFUTES]->(b:Belief)
    WHERE e.tenant = $tenant AND r.tenant = $tenant AND r.slot_id = slot_id AND r.recorded_at > c.known_at
    RETURN b, e
  }
  RETURN collect({b: b, e: e}) AS tail
}
WITH *, CASE WHEN policy.cardinality = 'MANY' OR none(x IN tail WHERE x.e.occurred_at <= c.until) THEN c END AS checkpoint
OPTIONAL CALL (scope, names, predicate_key, valid, checkpoint) {
  FILTER checkpoint IS NULL
  LET mine = []
  // include: fragments/slot.cypher
  RETURN members
}
