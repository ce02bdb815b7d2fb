// Keeps those `e` alone that speak of nothing but what is erased. Needs `e`, $items, $episodes.

FILTER NOT EXISTS {
  MATCH (e)-[:CONCERNS|RETURNED|REINFORCES|SUPPORTS|REFUTES]->(x)
  WHERE NOT x:Event AND NOT x.id IN $items
    AND NOT EXISTS { MATCH (x)-[:OCCURRED_IN]->(p:Episode) WHERE x:Turn AND p.id IN $episodes }
}
