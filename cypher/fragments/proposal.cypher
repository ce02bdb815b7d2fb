// Build the output of `e`, a PROPOSE or PROPOSE_UPDATE event.
// needs: e
// leaves: proposal

LET accepted = EXISTS { (e)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'ACCEPT'}) },
    dismissed = EXISTS { (e)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'DISMISS'}) }
LET ends = COLLECT {
  MATCH (e)-[:CONCERNS]->(m:Memory)
  WHERE m.tenant = $tenant
  RETURN m {.id, .content}
}
LET proposal = e {
  .id, .type, .scope, .polarity, .confidence, .source_type, .occurred_at, .recorded_at, .episode_id, .actor, .payload,
  memories: ends,
  status: CASE WHEN accepted THEN 'accepted' WHEN dismissed THEN 'dismissed' ELSE 'open' END
}
