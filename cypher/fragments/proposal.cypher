// Build the output of `e`, a PROPOSE event.
// needs: e
// leaves: proposal

LET accepted = EXISTS { (e)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'ACCEPT'}) },
    dismissed = EXISTS { (e)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'DISMISS'}) }
LET proposal = e {
  .id, .scope, .polarity, .confidence, .source_type, .occurred_at, .recorded_at, .episode_id, .actor, .payload,
  status: CASE WHEN accepted THEN 'accepted' WHEN dismissed THEN 'dismissed' ELSE 'open' END
}
