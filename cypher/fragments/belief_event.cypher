// Build the output of `e`, an event about a belief.
// needs: e, speaks (whether it is evidence), counts (whether it is not retracted)
// leaves: line (a map)

LET line = e {
  .id, .type, .occurred_at, .recorded_at, .source, .actor, .artifact_ref, .trust, .payload, .polarity, .confidence, .strength,
  .source_type, .target_id,
  retracted: speaks AND NOT counts,
  episode_id: head([(e)-[:OCCURRED_IN]->(x:Episode {tenant: $tenant}) | x.id]),
  turn_id: head([(e)-[:QUOTES]->(x:Turn {tenant: $tenant}) | x.id]),
  memory_id: head([(e)-[:REINFORCES]->(x:Memory {tenant: $tenant}) WHERE x.scope IN $scopes | x.id])
}
