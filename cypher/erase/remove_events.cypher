// Erase events.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $ids     list    event ids
// columns:

UNWIND $ids AS id
MATCH (e:Event {tenant: $tenant, id: id})
DETACH DELETE e
