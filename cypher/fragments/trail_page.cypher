// Build the output of a page of evidence.
// needs: page (a list of maps with `event`), steps (of fragments/sequential)
// leaves: lines (these maps with the event properties, weight, source turn and memory, its words; `after`: the test after its time; times as ISO
// text, which a driver decodes much faster)

CALL (page, steps) {
  UNWIND page AS x
  WITH x, x.event AS e
  RETURN collect(x {
    .*, at: toString(x.at), event: e {.type, .confidence, .source_type, .source, .actor, .trust, .payload, recorded_at: toString(e.recorded_at)},
    weight: coalesce($weights[e.source_type], 0.0), after: head([step IN steps WHERE step.at = x.at | step {.status, .log_ratio, .confidence}]),
    turn_id: head([(e)-[:QUOTES]->(turn:Turn {tenant: $tenant}) | turn.id]),
    memory_id: head([(e)-[:REINFORCES]->(memory:Memory {tenant: $tenant}) | memory.id]),
    words: head([(e)-[:QUOTES]->(turn:Turn {tenant: $tenant}) WHERE turn.scope IN $scopes | turn.text]
      + [(e)-[:REINFORCES]->(memory:Memory {tenant: $tenant}) WHERE memory.scope IN $scopes | memory.content])
  }) AS lines
}
