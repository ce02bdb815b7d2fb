// What happened to a memory, oldest first.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant     string   whose
//   $scopes     list     scopes the reader can see
//   $memory_id  string   of the memory
//   $limit      integer  newest events to return
// columns:
//   - event       map     the event's own fields
//   - episode_id  string  where it occurred, or null
//   - turn_id     string  what it quotes, or null

MATCH (m:Memory {tenant: $tenant, id: $memory_id})
WHERE m.scope IN $scopes
MATCH (m)<-[:REINFORCES|CONCERNS]-(e:Event)
WHERE e.scope IN $scopes
WITH e
ORDER BY e.occurred_at DESC, e.recorded_at DESC, e.id DESC
LIMIT $limit
OPTIONAL MATCH (e)-[:OCCURRED_IN]->(episode:Episode {tenant: $tenant})
OPTIONAL MATCH (e)-[:QUOTES]->(turn:Turn {tenant: $tenant})
RETURN e {.id, .type, .occurred_at, .recorded_at, .source, .actor, .artifact_ref, .payload} AS event,
       episode.id AS episode_id,
       turn.id AS turn_id
ORDER BY event.occurred_at, event.recorded_at, event.id
