// Find nodes of an export whose position is taken by another node. Checks ends of sessions in the log, and turns in an
// episode.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $ends   list  maps of session ends: id and position
//   $turns  list  maps of turns: id, episode_id and position
// columns:
//   - id  string  id of a node of the export

CALL () {
  UNWIND $ends AS row
  MATCH (e:Event {tenant: $tenant, position: row.position})
  USING INDEX SEEK e:Event(tenant, position)
  WHERE e.id <> row.id
  RETURN row.id AS id
UNION ALL
  UNWIND $turns AS row
  MATCH (t:Turn {tenant: $tenant, episode_id: row.episode_id, position: row.position})
  WHERE t.id <> row.id
  RETURN row.id AS id
}
RETURN id
