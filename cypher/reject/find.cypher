// Return the rejection in force, as of (valid, known), of what a memory or a belief states.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $id  string  id of the memory or the belief
// columns:
//   - event_id     string    event that rejected it
//   - rejected_at  datetime  time of the rejection
//   - actor        string    who rejected it; null: not given, or erased
//   - payload      string    payload of the event, JSON; null: erased

MATCH (m:Memory|Belief {tenant: $tenant, id: $id})
WHERE m.scope IN $scopes
MATCH (r:Rejection)
WHERE r.tenant = $tenant AND r.value_key = m.value_key AND r.scope IN [m.scope, 'global']
UNWIND [i IN range(0, size(r.rejects) - 1) WHERE r.at[i] <= $valid AND ($known IS NULL OR r.known_at[i] <= $known)] AS i
WITH r.event_ids[i] AS event_id, r.at[i] AS rejected_at, r.rejects[i] AS rejects
ORDER BY rejected_at DESC, event_id DESC
LIMIT 1
FILTER rejects
OPTIONAL MATCH (e:Event {tenant: $tenant, id: event_id})
RETURN event_id, rejected_at, e.actor AS actor, e.payload AS payload
