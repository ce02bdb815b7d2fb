// Look up the stored turns of a conversation. Returns turns by id, and as many first and last turns as there are given
// messages.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $episode_id  string   id of the session
//   $ids         list     ids of turns that may exist
//   $given       integer  number of given messages
// columns:
//   - present  list     maps of the existing turns: id, role, name, text
//   - first    list     maps of the first turns: id, role, name, text
//   - last     list     maps of the last turns, in order: id, role, name, text
//   - next     integer  position of the next turn, from 0

OPTIONAL MATCH (k:Turn {tenant: $tenant})
WHERE k.id IN $ids
WITH collect(k {.id, .role, .name, .text}) AS present
CALL () {
  OPTIONAL MATCH (t:Turn)
  WHERE t.tenant = $tenant AND t.episode_id = $episode_id AND t.position >= 0
  RETURN coalesce(max(t.position) + 1, 0) AS next
}
// CartesianProduct: both inputs are single rows.
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
