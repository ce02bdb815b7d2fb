// List the events to erase together with memories, beliefs, episodes and turns. Includes events that state, quote or
// access these nodes, events of the episodes, and events about nothing else. Also includes proposals of the beliefs, evidence drawn
// from any of these events, and retractions and decisions of all of them.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $memories  list    memory ids
//   $beliefs   list    belief ids
//   $episodes  list    episode ids
//   $turns     list    turn ids
//   $after     string  id of the last row of the previous page; '' for the first page
// columns:
//   - id        string  event id
//   - scope     string  scope of the event
//   - memories  list    ids of remaining memories that the event refers to
//   - beliefs   list    ids of remaining beliefs that the event refers to

CALL () {
  UNWIND $memories AS id
  MATCH (:Memory {tenant: $tenant, id: id})<-[:REINFORCES|ACCESSED]-(e:Event)
  RETURN e
UNION
  UNWIND $memories AS id
  MATCH (:Memory {tenant: $tenant, id: id})<-[:CONCERNS|RETURNED]-(e:Event)
  // include: fragments/refers_only_to_erased.cypher
  RETURN e
UNION
  UNWIND $beliefs AS id
  MATCH (:Belief {tenant: $tenant, id: id})<-[:CONCERNS|RETURNED|SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/refers_only_to_erased.cypher
  RETURN e
UNION
  UNWIND $episodes AS id
  MATCH (:Episode {tenant: $tenant, id: id})<-[:CONCERNS|RETURNED]-(e:Event)
  // include: fragments/refers_only_to_erased.cypher
  RETURN e
UNION
  UNWIND $beliefs AS id
  MATCH (:Belief {tenant: $tenant, id: id})<-[:ACCESSED]-(e:Event)
  RETURN e
UNION
  UNWIND $episodes AS id
  MATCH (:Episode {tenant: $tenant, id: id})<-[:ACCESSED|OCCURRED_IN]-(e:Event)
  RETURN e
UNION
  // include: fragments/erased_turns.cypher
  MATCH (t)<-[:QUOTES|ACCESSED]-(e:Event {tenant: $tenant})
  RETURN e
UNION
  // include: fragments/erased_turns.cypher
  MATCH (t)<-[:RETURNED]-(e:Event {tenant: $tenant})
  // include: fragments/refers_only_to_erased.cypher
  RETURN e
UNION
  // include: fragments/drawn_from_episode.cypher
  RETURN e
UNION
  UNWIND CASE WHEN size($beliefs) > 0 THEN [1] ELSE [] END AS once
  MATCH (e:Event)
  USING INDEX e:Event(tenant, type, recorded_at)
  WHERE e.tenant = $tenant AND e.type = 'PROPOSE' AND e.recorded_at IS NOT NULL AND any(x IN $beliefs WHERE e.payload CONTAINS x)
  RETURN e
}
CALL (e) {
  MATCH (e)<-[:RETRACTS|CONCERNS]-{0,9}(x:Event)
  RETURN x
UNION
  MATCH (drawn:Event {tenant: $tenant, target_id: e.id})
  USING INDEX SEEK drawn:Event(tenant, target_id)
  MATCH (drawn)<-[:RETRACTS|CONCERNS]-{0,9}(x:Event {tenant: $tenant})
  RETURN x
}
WITH DISTINCT x
WHERE x.id > $after
ORDER BY x.id
LIMIT $limit
RETURN x.id AS id,
       x.scope AS scope,
       [(x)-[:REINFORCES|CONCERNS]->(m:Memory) WHERE NOT m.id IN $memories | m.id] AS memories,
       [(x)-[:SUPPORTS|REFUTES|CONCERNS]->(b:Belief) WHERE NOT b.id IN $beliefs | b.id] AS beliefs
ORDER BY id
