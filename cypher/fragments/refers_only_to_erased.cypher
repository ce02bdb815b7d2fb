// Keep the events `e` that refer only to erased nodes. Ids are compared per label, because an episode may have the id
// of a memory of another scope.
// needs: e

FILTER NOT EXISTS {
  MATCH (e)-[:CONCERNS|RETURNED|REINFORCES|SUPPORTS|REFUTES]->(x {tenant: $tenant})
  WHERE NOT x:Event
    AND NOT (x:Memory AND x.id IN $memories OR x:Belief AND x.id IN $beliefs OR x:Episode AND x.id IN $episodes OR x:Turn AND x.id IN $turns)
    AND NOT EXISTS { MATCH (x)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant}) WHERE x:Turn AND p.id IN $episodes }
}
