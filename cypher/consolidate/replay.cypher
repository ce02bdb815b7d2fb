// Recreate beliefs from stored outcomes, and link the events that support or mark them.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: links.claim.id Belief
// refers_to: links.event_id Event, links.claim.subject_key Person
// params:
//   $links  list  maps in order of belief: event_id, and claim: see fragments/merge_belief.cypher
// columns:
//   - linked  integer  number of events linked to their belief

UNWIND $links AS link
MATCH (e:Event {tenant: $tenant, id: link.event_id})
WITH e, e {.id, .occurred_at, .strength} AS event, link.claim AS claim
// include: fragments/merge_belief.cypher
WITH e, claim, b
// include: fragments/link_evidence.cypher
FOREACH (x IN CASE WHEN e.polarity IS NULL THEN [1] ELSE [] END | CREATE (e)-[:CONCERNS]->(b))
RETURN count(e) AS linked
