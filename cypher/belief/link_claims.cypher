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
//   - rejected  list     ids of claimed beliefs that are rejected for the writer
//   - reworded  list     ids of claimed beliefs that were rejected for their former wording: to be refreshed

UNWIND $claims AS row
WITH row.event AS event, row.claim AS claim, row.memory_id AS memory_id
// include: fragments/merge_belief.cypher
WITH event, claim, memory_id, b
MATCH (e:Event {tenant: $tenant, id: event.id})
// include: fragments/link_evidence.cypher
WITH memory_id, b, e
MATCH (m:Memory {tenant: $tenant, id: memory_id})
MERGE (m)-[:CLAIMS]->(b)
LET value_keys = CASE WHEN b.rulings IS NULL THEN [] ELSE [b.value_key, b.statement_key] END, until = null, recorded = null
// include: fragments/rejection.cypher
WITH e, collect(CASE WHEN rejection IS NOT NULL THEN b.id END) AS turned_down,
     collect(CASE WHEN rejection IS NULL AND b.status = 'rejected' THEN b.id END) AS renamed
// include: fragments/link_earlier_retractions.cypher
RETURN count(e) AS events, coll.distinct(coll.flatten(collect(turned_down))) AS rejected,
       coll.distinct(coll.flatten(collect(renamed))) AS reworded
