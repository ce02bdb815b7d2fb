// Return episodes by id. Episodes outside the read scopes are left out.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  episode ids
// columns:
//   - episode  map  id, scope, session_id, summary, content, gist, compressed, entities, importance, summarised_by, occurred_at, ended_at, recorded_at, turns

UNWIND $ids AS id
MATCH (p:Episode {tenant: $tenant, id: id})
WHERE p.scope IN $scopes
// include: fragments/episode_turns.cypher
RETURN p {.id, .scope, .session_id, .summary, .content, .gist, .entities, .importance, .summarised_by, .occurred_at, .recorded_at,
          compressed: p.turns_compressed IS NOT NULL OR EXISTS { (p)-[:ARCHIVED_AS]->(:Archive {tenant: $tenant}) },
          turns: turns, ended_at: ended_at} AS episode
