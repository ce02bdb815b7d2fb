// Remove mentions of erased data from remaining events. Replies that contain such mentions are emptied, which keeps the
// model from being called again, or erased.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $events   list  maps: id, payload
//   $replies  list  ids of the replies to empty
//   $removed  list  ids of the replies to erase
// columns:

CALL () {
  UNWIND $events AS row
  MATCH (e:Event {tenant: $tenant, id: row.id})
  SET e.payload = row.payload
}
CALL () {
  UNWIND $replies AS id
  MATCH (r:Reply {tenant: $tenant, id: id})
  SET r.decided = '{"beliefs": [], "evidence": [], "marks": [], "proposed": []}', r.raw = null, r.problem = null
}
CALL () {
  UNWIND $removed AS id
  MATCH (r:Reply {tenant: $tenant, id: id})
  DETACH DELETE r
}
