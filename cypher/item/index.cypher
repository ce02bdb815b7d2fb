// Store the texts by which items are found. Run it after item/put, which deletes the previous texts.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $texts  list  maps: item_id, name (among the item's texts), text, path (of the namespace) and embedding

UNWIND $texts AS row
MATCH (i:Item {tenant: $tenant, id: row.item_id})
CREATE (i)-[:FOUND_BY]->(t:ItemText {tenant: $tenant, scope: $scope, name: row.name, text: row.text, path: row.path})
WITH t, row
CALL db.create.setNodeVectorProperty(t, 'embedding', row.embedding)
