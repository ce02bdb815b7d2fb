// Make committed texts evidence for what they assert: their events support the beliefs, which are made when they are new, and
// their memories claim them.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// ids: claims.event.id Event, claims.memory_id Memory, claims.claim.id Belief
// params:
//   $tenant      string  tenant name
//   $tenant_key  string  its full-text token
//   $claims      list    in the order of the beliefs: event (id, occurred_at), memory_id, and claim, as belief/append takes it
// columns:
//   - events  integer  that support something

UNWIND $claims AS row
WITH row.event AS event, row.claim AS claim, row.memory_id AS memory_id
// include: fragments/meet_belief.cypher
WITH event, claim, memory_id, b
MATCH (e:Event {tenant: $tenant, id: event.id})
// include: fragments/speak_of.cypher
WITH memory_id, b, e
MATCH (m:Memory {tenant: $tenant, id: memory_id})
MERGE (m)-[:CLAIMS]->(b)
WITH DISTINCT e
// include: fragments/meet_retraction.cypher
RETURN count(e) AS events
