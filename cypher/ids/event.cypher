// Return an event in the read scopes, and the ids of the memories, beliefs and episodes that it is about. A retraction
// is about those of the evidence that it takes back.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $id  string  event id
// columns:
//   - event  map   the event properties, episode_id and turn_id
//   - about  list  ids of items, at most 20 in their order

MATCH (e:Event {tenant: $tenant, id: $id})
WHERE e.scope IN $scopes
CALL (e) {
  OPTIONAL MATCH (e)-[:OCCURRED_IN]->(episode:Episode {tenant: $tenant})
  RETURN min(episode.id) AS episode_id
}
CALL (e) {
  OPTIONAL MATCH (e)-[:QUOTES]->(turn:Turn {tenant: $tenant})
  RETURN min(turn.id) AS turn_id
}
CALL (e) {
  CALL (e) {
    MATCH (e)-[:SUPPORTS|REFUTES {tenant: $tenant}]->(n:Belief {tenant: $tenant})
    RETURN n
  UNION
    MATCH (e)-[:REINFORCES|CONCERNS]->(n:Memory|Belief|Episode {tenant: $tenant})
    RETURN n
  UNION
    MATCH (e)-[:RETRACTS]->(:Event {tenant: $tenant})-[:SUPPORTS|REFUTES {tenant: $tenant}]->(n:Belief {tenant: $tenant})
    RETURN n
  }
  FILTER n.scope IN $scopes
  WITH DISTINCT n.id AS id
  ORDER BY id
  LIMIT 20
  RETURN collect(id) AS about
}
RETURN e {.id, .type, .occurred_at, .recorded_at, .source, .actor, .artifact_ref, .trust, .payload,
          episode_id, turn_id} AS event, about
