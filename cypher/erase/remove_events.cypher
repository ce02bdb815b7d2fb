// Erase events.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  event ids
// columns:

UNWIND $ids AS id
MATCH (e:Event {tenant: $tenant, id: id})
DETACH DELETE e
