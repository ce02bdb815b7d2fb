// What of a conversation is there already: turns by id, and as many as were given from its start and from its end.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $tenant      string   tenant name
//   $episode_id  string   id of the session
//   $ids         list     turn ids that may be there
//   $given       integer  how many messages were given
// columns:
//   - present  list     maps of these that are there: id, role, name, text
//   - first    list     maps from the start: id, role, name, text
//   - last     list     maps up to the end, in order: id, role, name, text
//   - next     integer  position of the next turn, from 0

OPTIONAL MATCH (k:Turn {tenant: $tenant})
WHERE k.id IN $ids
WITH collect(k {.id, .role, .name, .text}) AS present
CALL () {
  OPTIONAL MATCH (t:Turn)
  WHERE t.tenant = $tenant AND t.episode_id = $episode_id AND t.position >= 0
  RETURN coalesce(max(t.position) + 1, 0) AS next
}
// CartesianProduct: of single rows.
CALL (next) {
  OPTIONAL MATCH (t:Turn)
  WHERE t.tenant = $tenant AND t.episode_id = $episode_id AND t.position < $given
  WITH t
  ORDER BY t.position
  RETURN collect(t {.id, .role, .name, .text}) AS first
}
CALL (next) {
  OPTIONAL MATCH (t:Turn)
  WHERE t.tenant = $tenant AND t.episode_id = $episode_id AND t.position >= next - $given
  WITH t
  ORDER BY t.position
  RETURN collect(t {.id, .role, .name, .text}) AS last
}
RETURN present, first, last, next
