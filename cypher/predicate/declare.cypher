// Append a POLICY event to a predicate of its scope, link retractions of it that came first, and update the cached policy.
// mode: write
// rows: none
// plan: MergeUniqueNode
// writes_ids: event.id Event
// params:
//   $id        string  id of the predicate in the scope of the event
//   $key       string  predicate key
//   $name      string  name, as written
//   $template  string  sentence template of its triples, or null
//   $event     map     event properties, including the policy
// columns:

MERGE (p:Predicate {tenant: $tenant, id: $id})
ON CREATE SET p.key = $key, p.scope = $event.scope
WITH p, $event AS event
// include: fragments/append_event.cypher
CREATE (e)-[:CONCERNS]->(p)
WITH p, e
// include: fragments/link_earlier_retractions.cypher
WITH p
// include: fragments/cache_policy.cypher
SET p.name = CASE newest.id WHEN $event.id THEN $name ELSE coalesce(p.name, $name) END,
    p.template = CASE newest.id WHEN $event.id THEN $template ELSE p.template END
