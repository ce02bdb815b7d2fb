// List the rejections that stay in force although a newer ruling in one of the given tombstones, which was imported, takes
// them back.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ids   list    ids of tombstones
//   $path  string  path of the imported rulings: see rules/rejections.py
// columns:
//   - scope        string    scope of the rejection
//   - event_id     string    event that rejected the value
//   - rejected_at  datetime  time of the rejection
//   - item_id      string    memory or belief that states the value; null: none does

UNWIND $ids AS id
MATCH (r:Rejection {tenant: $tenant, id: id})
MATCH (own:Rejection)
WHERE own.tenant = $tenant AND own.value_key = r.value_key AND own.scope IS NOT NULL AND (own.scope = r.scope OR 'global' IN [own.scope, r.scope])
UNWIND range(0, size(own.rejects) - 1) AS i
WITH r, own, i
WHERE own.rejects[i]
  AND any(j IN range(0, size(r.rejects) - 1) WHERE NOT r.rejects[j] AND r.paths[j] STARTS WITH $path
    AND NOT own.paths[i] STARTS WITH r.paths[j] AND (r.at[j] > own.at[i] OR r.at[j] = own.at[i] AND r.event_ids[j] > own.event_ids[i]))
  AND none(j IN range(i + 1, size(own.rejects) - 1) WHERE NOT own.rejects[j] AND own.paths[i] STARTS WITH own.paths[j])
WITH DISTINCT own, own.event_ids[i] AS event_id, own.at[i] AS rejected_at
LET stating = COLLECT {
  MATCH (m:Memory)
  WHERE m.tenant = $tenant AND m.value_key = own.value_key AND m.scope = own.scope
  RETURN m.id AS id
UNION
  MATCH (m:Belief)
  WHERE m.tenant = $tenant AND m.value_key = own.value_key AND m.scope = own.scope
  RETURN m.id AS id
}
RETURN own.scope AS scope, event_id, rejected_at, coll.min(stating) AS item_id
ORDER BY rejected_at, event_id, scope
