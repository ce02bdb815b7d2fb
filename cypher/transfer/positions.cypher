// Nodes of an export whose place in an order is taken by another node: ends of sessions in the log, turns in an episode.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string  tenant name
//   $ends    list    maps of ends of sessions: id and position
//   $turns   list    maps of turns: id, episode_id and position
// columns:
//   - id  string  of a node that the export has

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
