// List nodes other than events that an erasure or an import changed, and that wait for another seal.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $limit  integer  maximum number of nodes
//   $content  map  names of the covered properties by label: see integrity/contents.py
// columns:
//   - node  map  label, key, properties: pairs of name and value

MATCH (:Tenant {tenant: $tenant})-[:UNSEALED]->(x {tenant: $tenant})
WHERE NOT x:Event
WITH x
LIMIT $limit
// include: fragments/sealed_node.cypher
RETURN record AS node
