// Return the payloads of events; those that do not exist have no row.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  event ids
// columns:
//   - id       string  event id
//   - payload  string  payload, JSON

UNWIND $ids AS id
MATCH (e:Event {tenant: $tenant, id: id})
RETURN e.id AS id, e.payload AS payload
