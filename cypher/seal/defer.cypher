// Mark events and other nodes for the next seal, which would pass over them because of their recording times.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $nodes  list  maps: label and key
// columns:

MATCH (t:Tenant {tenant: $tenant})
UNWIND $nodes AS row
WITH t, row.label AS label, row.key AS key
// include: fragments/node_by_key.cypher
FILTER x IS NOT NULL
MERGE (t)-[:UNSEALED]->(x)
