// List beliefs that are stated only by the given episodes, turns and memories, or by consolidation of them or of the given
// beliefs. Evidence events with a strength do not state a belief.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $episodes  list  episode ids
//   $turns     list  turn ids
//   $memories  list  memory ids
//   $beliefs   list  belief ids
// columns:
//   - id  string  belief id

CALL () {
  UNWIND $episodes AS id
  MATCH (:Episode {tenant: $tenant, id: id})<-[:OCCURRED_IN]-(:Event)-[:SUPPORTS|REFUTES|CONCERNS]->(b:Belief)
  RETURN b
UNION
  // include: fragments/erased_turns.cypher
  MATCH (t)<-[:QUOTES]-(:Event {tenant: $tenant})-[:SUPPORTS|REFUTES|CONCERNS]->(b:Belief {tenant: $tenant})
  RETURN b
UNION
  // include: fragments/drawn_from_episode.cypher
  MATCH (e)-[:SUPPORTS|REFUTES]->(b:Belief {tenant: $tenant})
  RETURN b
UNION
  UNWIND $memories AS id
  MATCH (:Memory {tenant: $tenant, id: id})<-[:REINFORCES]-(:Event)-[:SUPPORTS|REFUTES]->(b:Belief)
  RETURN b
UNION
  UNWIND $beliefs AS id
  MATCH (:Belief {tenant: $tenant, id: id})<-[:SUPPORTS {tenant: $tenant}]-(e:Event {tenant: $tenant})
  MATCH (drawn:Event {tenant: $tenant, target_id: e.id})-[:SUPPORTS {tenant: $tenant}]->(b:Belief {tenant: $tenant})
  USING INDEX SEEK drawn:Event(tenant, target_id)
  RETURN b
}
WITH DISTINCT b
WHERE NOT EXISTS {
  MATCH (b)<-[:SUPPORTS|REFUTES|CONCERNS]-(e:Event)
  WHERE NOT e.type IN ['DEPRECATE', 'ARCHIVE', 'RESTORE', 'FLAG', 'RESOLVE', 'REVISE', 'SPLIT', 'MERGE'] AND e.strength IS NULL
    AND coalesce(e.source, '') <> 'consolidation'
    AND NOT EXISTS { MATCH (e)-[:OCCURRED_IN]->(x:Episode) WHERE x.id IN $episodes }
    AND NOT EXISTS { MATCH (e)-[:QUOTES]->(t:Turn)-[:OCCURRED_IN]->(x:Episode) WHERE x.id IN $episodes OR t.id IN $turns }
    AND NOT EXISTS { MATCH (e)-[:REINFORCES]->(x:Memory) WHERE x.id IN $memories }
}
RETURN b.id AS id
ORDER BY id
