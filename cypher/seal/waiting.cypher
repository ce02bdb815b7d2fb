// List events that wait for a seal although later ones have one: they were redacted or imported.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $limit  integer  maximum number of events
// columns:
//   - event  map  id, recorded_at, properties, links: maps of type, label and key

MATCH (:Tenant {tenant: $tenant})-[:UNSEALED]->(e:Event {tenant: $tenant})
WITH e
ORDER BY e.recorded_at, e.id
LIMIT $limit
// include: fragments/sealed_event.cypher
RETURN record AS event
