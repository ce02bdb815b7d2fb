// Look up the turns of a conversation that may be given messages, and what is needed to align them with it.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $episode_id    string  id of the session
//   $ids           list    ids of turns that may exist
//   $texts         list    texts of the messages
//   $human_roles   list    roles of people, in lower case
//   $system_roles  list    roles of the system, in lower case
// columns:
//   - turns    list     maps of the turns with one of these ids or texts: id, position, role, name, text
//   - systems  list     positions of the turns of the system
//   - erased   list     positions and digests of erased turns, as texts
//   - asked    integer  position of the last turn of a person; -1: none
//   - next     integer  position of the next turn, from 0

CALL () {
  MATCH (t:Turn)
  WHERE t.tenant = $tenant AND t.episode_id = $episode_id AND t.position >= 0
  LET role = toLower(t.role)
  RETURN collect(CASE WHEN t.text IN $texts OR t.id IN $ids THEN t {.id, .position, .role, .name, .text} END) AS turns,
         collect(CASE WHEN role IN $system_roles THEN t.position END) AS systems,
         coalesce(max(CASE WHEN role IN $human_roles THEN t.position END), -1) AS asked,
         coalesce(max(t.position) + 1, 0) AS next
}
// The episode is found once, not for each turn.
OPTIONAL MATCH (p:Episode {tenant: $tenant, id: $episode_id})
RETURN turns, systems, coalesce(p.erased_turns, []) AS erased, asked, next
