// Return the rejection in force, for the reader and as of (valid, known), of what a memory or a belief states.
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
LET value_keys = [m.value_key, m.statement_key], until = $valid, recorded = $known
// include: fragments/rejection.cypher
FILTER rejection IS NOT NULL
RETURN rejection.event_id AS event_id, rejection.rejected_at AS rejected_at, rejection.actor AS actor, rejection.payload AS payload
