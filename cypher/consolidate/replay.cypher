// Make beliefs again from what was decided, and lead the events that rest on them, or mark them, to them again.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// ids: links.event_id Event, links.claim.id Belief
// params:
//   $tenant      string  tenant name
//   $tenant_key  string  full-text token of the tenant
//   $links       list    in the order of beliefs, maps: event_id, and claim: see fragments/meet_belief.cypher
// columns:
//   - linked  integer  events that lead to their belief again

UNWIND $links AS link
MATCH (e:Event {tenant: $tenant, id: link.event_id})
WITH e, e {.id, .occurred_at, .strength} AS event, link.claim AS claim
// include: fragments/meet_belief.cypher
WITH e, claim, b
// include: fragments/speak_of.cypher
FOREACH (x IN CASE WHEN e.polarity IS NULL THEN [1] ELSE [] END | CREATE (e)-[:CONCERNS]->(b))
RETURN count(e) AS linked
