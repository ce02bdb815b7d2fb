// Link committed memories to the beliefs they claim. Their events support the beliefs, which are created if they are
// new.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: claims.event.id Event, claims.claim.id Belief
// refers_to: claims.memory_id Memory, claims.claim.subject_key Person
// params:
//   $claims  list  in order of belief: event (id, occurred_at), memory_id, and claim, as in belief/append
// columns:
//   - events    integer  number of events that support a belief
//   - rejected  list     ids of claimed beliefs that are rejected

UNWIND $claims AS row
WITH row.event AS event, row.claim AS claim, row.memory_id AS memory_id
// include: fragments/merge_belief.cypher
WITH event, claim, memory_id, b
MATCH (e:Event {tenant: $tenant, id: event.id})
// include: fragments/link_evidence.cypher
WITH memory_id, b, e
MATCH (m:Memory {tenant: $tenant, id: memory_id})
MERGE (m)-[:CLAIMS]->(b)
WITH e, collect(CASE WHEN b.status = 'rejected' THEN b.id END) AS turned_down
// include: fragments/link_earlier_retractions.cypher
RETURN count(e) AS events, coll.distinct(coll.flatten(collect(turned_down))) AS rejected
