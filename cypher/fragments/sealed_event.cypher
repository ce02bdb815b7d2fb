// Build the `record` of event `e` that a seal covers: its properties, and its relationships to nodes other than events.
// Ids of other events are in its properties.
// needs: e
// leaves: record

LET record = {
  id: e.id,
  recorded_at: e.recorded_at,
  properties: properties(e),
  links: COLLECT {
    MATCH (e)-[r:REINFORCES|SUPPORTS|REFUTES|CONCERNS|QUOTES|NAMES|OCCURRED_IN]->(x {tenant: $tenant})
    WHERE NOT x:Event
    RETURN {type: type(r), label: labels(x)[0], key: coalesce(x.id, x.key)}
  }
}
