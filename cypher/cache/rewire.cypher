// Restore the relationships of events that other data determines. Run it after commit/lock, then transfer/retract.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $ids        list  event ids
//   $stating    list  types of events that may be evidence
//   $committed  list  types of events that may reinforce a memory
//   $telemetry  list  types of events that state nothing
// columns:

UNWIND $ids AS id
MATCH (e:Event {tenant: $tenant, id: id})
CALL (e) {
  MATCH (e)-[r:RETRACTS]->(t)
  WHERE NOT coalesce(e.type = 'RETRACT' AND t.id = e.target_id AND t.scope = e.scope, false)
  DELETE r
}
CALL (e) {
  MATCH (e)-[r:SUPPORTS|REFUTES|REINFORCES|CONCERNS|NAMES|QUOTES]->()
  WHERE (r:SUPPORTS|REFUTES AND NOT e.type IN $stating) OR (r:REINFORCES AND NOT e.type IN $committed)
    OR (r:CONCERNS|NAMES|QUOTES AND e.type IN $telemetry)
  DELETE r
}
CALL (e) {
  MATCH (e)-[r:SUPPORTS|REFUTES]->(b:Belief {tenant: $tenant})
  WHERE e.type IN $stating
  WITH DISTINCT e, b, r
  CREATE (e)-[:$(CASE e.polarity WHEN 1 THEN 'SUPPORTS' ELSE 'REFUTES' END) {tenant: e.tenant, slot_id: b.slot_id, recorded_at: e.recorded_at}]->(b)
  DELETE r
  MERGE (c:Checkpoint {tenant: $tenant, slot_id: b.slot_id})
  DELETE c
}
