// Build the output of `e`, a PROPOSE, PROPOSE_UPDATE or PROPOSE_RETRACT event.
// needs: e
// leaves: proposal

LET accepted = EXISTS { (e)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'ACCEPT'}) },
    dismissed = EXISTS { (e)<-[:CONCERNS]-(:Event {tenant: $tenant, type: 'DISMISS'}) }
LET ends = COLLECT {
  MATCH (e)-[:CONCERNS]->(m:Memory)
  WHERE m.tenant = $tenant
  RETURN m {.id, .content}
}
LET belief = COLLECT {
  MATCH (e)-[:CONCERNS]->(:Event {tenant: $tenant})-[:RETRACTS*0..]->(:Event {tenant: $tenant})-[:SUPPORTS|REFUTES]->(b:Belief {tenant: $tenant})
  RETURN b {.id, .statement}
  LIMIT 1
}[0]
LET proposal = e {
  .id, .type, .scope, .polarity, .confidence, .source_type, .occurred_at, .recorded_at, .episode_id, .actor, .payload,
  memories: ends, belief: belief,
  status: CASE WHEN accepted THEN 'accepted' WHEN dismissed THEN 'dismissed' ELSE 'open' END
}
