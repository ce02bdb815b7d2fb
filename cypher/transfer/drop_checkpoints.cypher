// Delete the checkpoints of slots before evidence that they do not include is imported. Locks them until the
// transaction ends.
// mode: write
// rows: none
// plan: MergeUniqueNode
// params:
//   $beliefs    list  ids of the beliefs of the new evidence
//   $retracted  list  ids of events that are retracted; their beliefs are included
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
// Sorting prevents deadlocks between concurrent writers.
UNWIND coll.sort(coll.distinct(about + spoken)) AS slot_id
MERGE (c:Checkpoint {tenant: $tenant, slot_id: slot_id})
SET c.locked_at = datetime.realtime('Z')
DELETE c
