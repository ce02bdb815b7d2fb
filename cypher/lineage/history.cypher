// Return the event history of a memory as of (valid, known), oldest first.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $id         string    memory id
//   $limit      integer   maximum number of newest events
//   $valid      datetime  upper bound of valid time
//   $known      datetime  upper bound of known time
// columns:
//   - events  list      maps: the event properties, episode_id and turn_id; empty if the memory did not exist
//   - now     datetime  server clock

CALL () {
  MATCH (m:Memory {tenant: $tenant, id: $id})
  WHERE m.scope IN $scopes AND EXISTS {
    MATCH (m)<-[:REINFORCES]-(own:Event)
    WHERE own.scope = m.scope AND own.occurred_at <= $valid AND own.recorded_at <= $known
  }
  MATCH (m)<-[:REINFORCES|CONCERNS]-(e:Event)
  WHERE e.scope IN $scopes AND e.occurred_at <= $valid AND e.recorded_at <= $known
  WITH e
  ORDER BY e.occurred_at DESC, e.recorded_at DESC, e.id DESC
  LIMIT $limit
  OPTIONAL MATCH (e)-[:OCCURRED_IN]->(episode:Episode {tenant: $tenant})
  OPTIONAL MATCH (e)-[:QUOTES]->(turn:Turn {tenant: $tenant})
  WITH e, episode, turn
  ORDER BY e.occurred_at, e.recorded_at, e.id
  RETURN collect(e {.id, .type, .occurred_at, .recorded_at, .source, .actor, .artifact_ref, .trust, .payload,
                    episode_id: episode.id, turn_id: turn.id}) AS events
}
RETURN events, datetime.realtime('Z') AS now
