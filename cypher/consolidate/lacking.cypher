// Which events of consolidation have lost the edge to their belief, or the belief itself.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $links   list    maps: event_id, belief_id
// columns:
//   - event_id   string  of an event that is there
//   - belief_id  string  what it should lead to

UNWIND $links AS link
MATCH (e:Event {tenant: $tenant, id: link.event_id})
WHERE NOT EXISTS { (e)-[:SUPPORTS|REFUTES|CONCERNS]->(:Belief {tenant: $tenant, id: link.belief_id}) }
RETURN e.id AS event_id, link.belief_id AS belief_id
