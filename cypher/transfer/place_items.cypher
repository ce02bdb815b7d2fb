// Put items that were just made into their namespaces, and let them be found by their texts.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  whose
//   $items   list    maps: key, namespace (properties), and texts: maps of properties and embedding
// columns:

UNWIND $items AS row
MATCH (i:Item {tenant: $tenant, id: row.key})
CALL (i, row) {
  MERGE (s:Namespace {tenant: $tenant, id: row.namespace.id})
  ON CREATE SET s += row.namespace
  CREATE (i)-[:STANDS_IN]->(s)
}
UNWIND row.texts AS text
CREATE (i)-[:FOUND_BY]->(t:ItemText {tenant: $tenant})
SET t += text.properties
WITH t, text
CALL db.create.setNodeVectorProperty(t, 'embedding', text.embedding)
