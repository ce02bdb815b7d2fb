// Copy the rulings about the value of `m`, a memory or a belief, from the tombstones of its scope and of the global one,
// and update its status. A slot with a ruled value has no checkpoint, because its evidence counts at some times only.
// needs: m

CALL (m) {
  MATCH (r:Rejection)
  WHERE r.tenant = $tenant AND r.value_key = m.value_key AND r.scope IN [m.scope, 'global']
  UNWIND range(0, size(r.rejects) - 1) AS i
  WITH r.at[i] AS at, r.known_at[i] AS known_at, r.rejects[i] AS rejects, r.event_ids[i] AS id
  ORDER BY at, id
  WITH collect({at: at, known_at: known_at, rejects: rejects}) AS rulings
  WHERE coalesce(size(m.rulings), 0) < size(rulings)
  SET m.rulings = [x IN rulings | x.rejects], m.ruled_at = [x IN rulings | x.at], m.ruled_known = [x IN rulings | x.known_at]
  SET m.status = CASE WHEN m.rulings[-1] THEN 'rejected' ELSE m.status END
  WITH rulings
  WHERE m:Belief
  MERGE (c:Checkpoint {tenant: $tenant, slot_id: m.slot_id})
  DELETE c
}
