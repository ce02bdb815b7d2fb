// Link newly created items to their namespaces and create their texts.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $items  list  maps: key, scope, namespace (as in items/rules.py), creation_order (of the namespace), and texts: maps of name, text and embedding or null
// columns:

UNWIND $items AS row
MATCH (i:Item {tenant: $tenant, id: row.key})
CALL (i, row) {
  MERGE (s:Namespace {tenant: $tenant, id: row.namespace.id})
  ON CREATE SET s.scope = row.scope, s.parts = row.namespace.parts, s.depth = size(row.namespace.parts),
    s.path = row.namespace.path, s.reversed = row.namespace.reversed, s.creation_order = row.creation_order
  CREATE (i)-[:STANDS_IN]->(s)
}
UNWIND row.texts AS text
CREATE (i)-[:FOUND_BY]->(t:ItemText {
  tenant: $tenant, scope: row.scope, path: row.namespace.path, name: text.name, text: text.text
})
WITH t, text
FILTER text.embedding IS NOT NULL
CALL db.create.setNodeVectorProperty(t, 'embedding', text.embedding)
