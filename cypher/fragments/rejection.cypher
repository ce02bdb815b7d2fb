// Look up the rejection in force of the value with this `value_key` in `ruled_scope`; one in the global scope applies,
// too, and the newest ruling decides.
// needs: value_key, ruled_scope
// leaves: rejection (a map: event_id, rejected_at, rejects, which is true, actor and payload of the event; null if the
// value is not rejected)

LET ruling = COLLECT {
  MATCH (known:Rejection)
  WHERE known.tenant = $tenant AND known.value_key = value_key AND known.scope IN [ruled_scope, 'global']
  OPTIONAL MATCH (x:Event {tenant: $tenant, id: known.event_ids[-1]})
  RETURN {event_id: known.event_ids[-1], rejected_at: known.at[-1], rejects: known.rejects[-1], actor: x.actor, payload: x.payload}
  ORDER BY known.at[-1] DESC, known.event_ids[-1] DESC
  LIMIT 1
}[0]
LET rejection = CASE WHEN ruling.rejects THEN ruling END
