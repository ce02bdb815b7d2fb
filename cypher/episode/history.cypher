// Return the event history of an episode as of (valid, known), oldest first: graduation, compression, archiving and the rest.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $episode_id  string    episode id
//   $limit       integer   maximum number of newest events
//   $valid       datetime  upper bound of valid time
//   $known       datetime  upper bound of known time
// columns:
//   - events  list      maps: the event properties; null: no visible episode has this id
//   - now     datetime  server clock

OPTIONAL CALL () {
  MATCH (p:Episode {tenant: $tenant, id: $episode_id})
  WHERE p.scope IN $scopes
  CALL (p) {
    MATCH (p)<-[:CONCERNS]-(e:Event {tenant: $tenant})
    WHERE e.scope IN $scopes AND e.occurred_at <= $valid AND e.recorded_at <= $known
    WITH e
    ORDER BY e.occurred_at DESC, e.recorded_at DESC, e.id DESC
    LIMIT $limit
    WITH e
    ORDER BY e.occurred_at, e.recorded_at, e.id
    RETURN collect(e {.id, .type, .occurred_at, .recorded_at, .source, .actor, .artifact_ref, .trust, .payload,
                      episode_id: $episode_id, turn_id: null}) AS events
  }
  RETURN events
}
RETURN events, datetime.realtime('Z') AS now
