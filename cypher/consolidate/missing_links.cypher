// List the events of consolidation whose belief, or the edge to it, is missing.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $links  list  maps: event_id, belief_id
// columns:
//   - event_id   string  id of an existing event
//   - belief_id  string  id of the belief that the event should be linked to

UNWIND $links AS link
MATCH (e:Event {tenant: $tenant, id: link.event_id})
WHERE NOT EXISTS { (e)-[:SUPPORTS|REFUTES|CONCERNS]->(:Belief {tenant: $tenant, id: link.belief_id}) }
RETURN e.id AS event_id, link.belief_id AS belief_id
