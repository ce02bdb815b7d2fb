// List memories that are stated only by the given episodes. No other event of their own scope states them.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant    string  tenant name
//   $episodes  list    episode ids
// columns:
//   - id  string  memory id

UNWIND $episodes AS id
MATCH (p:Episode {tenant: $tenant, id: id})
CALL (p) {
  MATCH (p)<-[:OCCURRED_IN]-(:Event)-[:REINFORCES]->(m:Memory)
  RETURN m
UNION
  MATCH (p)<-[:OCCURRED_IN]-(:Turn)<-[:QUOTES]-(:Event)-[:REINFORCES]->(m:Memory)
  RETURN m
}
WITH DISTINCT m
WHERE NOT EXISTS {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.scope = m.scope AND e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT']
    AND NOT EXISTS { MATCH (e)-[:OCCURRED_IN]->(x:Episode) WHERE x.id IN $episodes }
    AND NOT EXISTS { MATCH (e)-[:QUOTES]->(:Turn)-[:OCCURRED_IN]->(x:Episode) WHERE x.id IN $episodes }
}
RETURN m.id AS id
ORDER BY id
