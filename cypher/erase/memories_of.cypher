// List memories that are stated only by the given episodes. No other event of their own scope states them.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $episodes  list  episode ids
//   $turns     list  turn ids
// columns:
//   - id  string  memory id

CALL () {
  UNWIND $episodes AS id
  MATCH (:Episode {tenant: $tenant, id: id})<-[:OCCURRED_IN]-(:Event)-[:REINFORCES]->(m:Memory)
  RETURN m
UNION
  // include: fragments/erased_turns.cypher
  MATCH (t)<-[:QUOTES]-(:Event {tenant: $tenant})-[:REINFORCES]->(m:Memory {tenant: $tenant})
  RETURN m
}
WITH DISTINCT m
WHERE NOT EXISTS {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.scope = m.scope AND e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT']
    AND NOT EXISTS { MATCH (e)-[:OCCURRED_IN]->(x:Episode) WHERE x.id IN $episodes }
    AND NOT EXISTS { MATCH (e)-[:QUOTES]->(t:Turn)-[:OCCURRED_IN]->(x:Episode) WHERE x.id IN $episodes OR t.id IN $turns }
}
RETURN m.id AS id
ORDER BY id
