// Copy the rulings about what `m` states, a memory or a belief, from the tombstones of all scopes, and update its status. A
// slot with a ruled value has no checkpoint, because its evidence counts at some times and for some readers only.
// needs: m

CALL (m) {
  MATCH (r:Rejection)
  WHERE r.tenant = $tenant AND r.value_key IN [m.value_key, m.statement_key] AND r.scope IS NOT NULL
  UNWIND range(0, size(r.rejects) - 1) AS i
  WITH r.at[i] AS at, r.known_at[i] AS known_at, r.rejects[i] AS rejects, r.event_ids[i] AS id, r.scope AS scope, r.value_key + r.paths[i] AS path
  ORDER BY at, id, path
  WITH collect({at: at, known_at: known_at, rejects: rejects, scope: scope, path: path}) AS rulings
  WHERE coalesce(size(m.rulings), 0) < size(rulings) OR (size(m.rulings) = size(rulings) AND m.ruled_paths <> [x IN rulings | x.path])
  SET m.rulings = [x IN rulings | x.rejects], m.ruled_at = [x IN rulings | x.at], m.ruled_known = [x IN rulings | x.known_at],
      m.ruled_scopes = [x IN rulings | x.scope], m.ruled_paths = [x IN rulings | x.path]
  WITH m
  // include: fragments/rejected_anywhere.cypher
  SET m.rejected = CASE WHEN rejected_here THEN true END, m.status = CASE WHEN rejected_for_all THEN 'rejected' ELSE m.status END
  WITH m
  WHERE m:Belief
  MERGE (c:Checkpoint {tenant: $tenant, slot_id: m.slot_id})
  DELETE c
}
