// Match the events of a slot to read: all of them or, to resume from `checkpoint`, its `tail`. For coexisting
// candidates, checkpointed events of the episodes in the tail are included.
// needs: slot_id, policy, checkpoint, tail, members, valid
// leaves: b, e, covered (whether the checkpoint includes the event)

CALL (slot_id, policy, checkpoint, tail, members, valid) {
  FILTER checkpoint IS NULL
  // include: fragments/slot_evidence.cypher
  // include: fragments/not_rejected.cypher
  RETURN b, e, false AS covered
UNION ALL
  FILTER checkpoint IS NOT NULL
  UNWIND tail AS x
  RETURN x.b AS b, x.e AS e, false AS covered
UNION ALL
  FILTER checkpoint IS NOT NULL AND policy.cardinality = 'MANY'
  UNWIND tail AS x
  WITH DISTINCT x.e.episode_id AS episode_id
  MATCH (:Episode {tenant: $tenant, id: episode_id})<-[:OCCURRED_IN]-(e:Event)-[:SUPPORTS|REFUTES]->(b:Belief)
  WHERE b.slot_id = slot_id AND e.occurred_at <= checkpoint.until AND e.recorded_at <= checkpoint.known_at
  RETURN b, e, true AS covered
}
