// Append one immutable event. The server clock sets recorded_at; only an import provides it. No other file creates an
// Event.
// needs: event (a map of its properties)
// leaves: e (the new node)

CREATE (e:Event {
  tenant: $tenant,
  id: event.id,
  scope: event.scope,
  type: event.type,
  occurred_at: event.occurred_at,
  recorded_at: coalesce(event.recorded_at, datetime.truncate('microsecond', datetime.realtime('Z'))),
  request_hash: event.request_hash,
  content_hash: event.content_hash,
  source: event.source,
  actor: event.actor,
  artifact_ref: event.artifact_ref,
  episode_id: event.episode_id,
  polarity: event.polarity,
  confidence: event.confidence,
  source_type: event.source_type,
  strength: event.strength,
  target_id: event.target_id,
  cardinality: event.cardinality,
  kappa: event.kappa,
  tau_days: event.tau_days,
  decay_per_day: event.decay_per_day,
  margin: event.margin,
  combine: event.combine,
  valid_from: event.valid_from,
  same_as: event.same_as,
  value_digests: event.value_digests,
  imported_path: event.imported_path,
  position: event.position,
  trust: event.trust,
  payload: event.payload
})
