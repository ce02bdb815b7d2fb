// A page of a belief's evidence as it is shown. Needs `page`, a list of maps with `event`, and `steps` (fragments/sequential),
// $weights; leaves `lines`, a list of these maps with the event's own fields, its weight, where it was said, and
// `after`, where the sequential test stood after its instant.

CALL (page, steps) {
  UNWIND page AS x
  WITH x, x.event AS e
  RETURN collect(x {
    .*, event: e {.type, .recorded_at, .confidence, .source_type, .source, .actor, .payload},
    weight: coalesce($weights[e.source_type], 0.0), after: head([step IN steps WHERE step[0] = x.at]),
    turn_id: head([(e)-[:QUOTES]->(turn:Turn {tenant: $tenant}) | turn.id]),
    memory_id: head([(e)-[:REINFORCES]->(memory:Memory {tenant: $tenant}) | memory.id])
  }) AS lines
}
