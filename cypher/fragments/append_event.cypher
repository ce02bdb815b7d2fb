// Append one immutable event. Needs `event`, a map; leaves `e`, the new node.
// The only text that creates an Event.

CREATE (e:Event {
  tenant: $tenant,
  id: event.id,
  scope: event.scope,
  type: event.type,
  occurred_at: event.occurred_at,
  recorded_at: datetime.truncate('microsecond', datetime.realtime('Z')),
  request_hash: event.request_hash,
  content_hash: event.content_hash,
  source: event.source,
  actor: event.actor,
  artifact_ref: event.artifact_ref,
  payload: event.payload
})
