// Look up the turns of a conversation that may be given messages, and what is needed to align them with it.
// needs: p (the episode, or null)
// leaves: turns, systems, erased, asked, next

CALL () {
  MATCH (t:Turn)
  WHERE t.tenant = $tenant AND t.episode_id = $episode_id AND t.position >= 0
  LET role = toLower(t.role)
  RETURN collect(CASE WHEN t.text IN $texts OR t.id IN $ids THEN t {.id, .position, .role, .name, .text} END) AS turns,
         collect(CASE WHEN role IN $system_roles THEN t.position END) AS systems,
         coalesce(max(CASE WHEN role IN $human_roles THEN t.position END), -1) AS asked,
         coalesce(max(t.position) + 1, 0) AS next
}
LET erased = coalesce(p.erased_turns, [])
