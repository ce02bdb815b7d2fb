// Link retractions of `e` that were recorded before it.
// needs: e

CALL (e) {
  MATCH (r:Event {tenant: $tenant, target_id: e.id})
  WHERE r.scope = e.scope AND r.type = 'RETRACT'
  CREATE (r)-[:RETRACTS]->(e)
}
