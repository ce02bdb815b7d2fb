// Link retractions and their targets if only one of them was imported. Run it after transfer/link.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek NodeIndexSeek
// params:
//   $ids  list  ids of the events that were just appended
// columns:

UNWIND $ids AS id
MATCH (e:Event {tenant: $tenant, id: id})
CALL (e) {
  MATCH (r:Event {tenant: $tenant, target_id: e.id})
  WHERE r.type = 'RETRACT'
  RETURN r, e AS target
UNION
  FILTER e.type = 'RETRACT'
  MATCH (target:Event {tenant: $tenant, id: e.target_id})
  RETURN e AS r, target
}
FILTER r.scope = target.scope AND NOT EXISTS { (r)-[:RETRACTS]->(target) }
MERGE (r)-[:RETRACTS]->(target)
