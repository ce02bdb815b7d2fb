// Mark events for the next seal, which would pass over them because of their recording times.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// refers_to: ids Event
// params:
//   $ids  list  event ids
// columns:

MATCH (t:Tenant {tenant: $tenant})
UNWIND $ids AS id
MATCH (e:Event {tenant: $tenant, id: id})
MERGE (t)-[:UNSEALED]->(e)
