// Take what was erased out of events that stay; empty the replies that told of it, so that nobody is asked again, or erase them.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant   string  tenant name
//   $events   list    maps: id, payload
//   $replies  list    ids of those to be emptied
//   $removed  list    ids of those to be erased
// columns:

CALL () {
  UNWIND $events AS row
  MATCH (e:Event {tenant: $tenant, id: row.id})
  SET e.payload = row.payload
}
CALL () {
  UNWIND $replies AS id
  MATCH (r:Reply {tenant: $tenant, id: id})
  SET r.decided = '{"beliefs": [], "said": [], "marks": [], "proposed": []}', r.raw = null, r.problem = null
}
CALL () {
  UNWIND $removed AS id
  MATCH (r:Reply {tenant: $tenant, id: id})
  DETACH DELETE r
}
