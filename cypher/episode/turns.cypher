// List the turns of an episode, in order. Paged.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $episode_id  string   id of the session
//   $from        integer  first position to return
// columns:
//   - turn  map  id, episode_id, position, role, name, text, occurred_at, time_zone, recorded_at

MATCH (t:Turn)
WHERE t.tenant = $tenant AND t.episode_id = $episode_id AND t.position >= $from AND t.scope IN $scopes
// Sorting by the whole index key reads no more turns than the page needs.
WITH t
ORDER BY t.tenant, t.episode_id, t.position
LIMIT $limit
RETURN t {.id, .episode_id, .position, .role, .name, .text, .occurred_at, .time_zone, .recorded_at} AS turn
ORDER BY t.position
