// Take the checkpoints of slots away before evidence comes that they do not know, and hold their places until the transaction ends.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $tenant     string  tenant name
//   $beliefs    list    ids of what new evidence speaks of
//   $retracted  list    ids of events that are taken back; what they spoke of is meant too
// columns:

LET about = COLLECT {
  UNWIND $beliefs AS id
  MATCH (b:Belief {tenant: $tenant, id: id})
  RETURN b.slot_id
}
LET spoken = COLLECT {
  UNWIND $retracted AS id
  MATCH (:Event {tenant: $tenant, id: id})-[:RETRACTS*0..]->(x:Event)
  MATCH (x)-[s:SUPPORTS|REFUTES]->()
  RETURN s.slot_id
}
// Sorted, so that two writers never wait for each other in a ring.
UNWIND coll.sort(coll.distinct(about + spoken)) AS slot_id
MERGE (c:Checkpoint {tenant: $tenant, slot_id: slot_id})
SET c.locked_at = datetime.realtime('Z')
DELETE c
