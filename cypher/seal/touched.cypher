// Return which nodes an event without a seal states something about: they may have changed since they were sealed.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $nodes  list  maps: label and key
// columns:
//   - label  string  label of the node
//   - key    string  its key

UNWIND $nodes AS row
WITH row.label AS label, row.key AS key
// include: fragments/node_by_key.cypher
FILTER EXISTS {
  MATCH (x)<-[:REINFORCES|SUPPORTS|REFUTES|CONCERNS|NAMES]-(e:Event {tenant: $tenant})
  WHERE NOT EXISTS { (e)<-[:SEALS]-(:Seal {tenant: $tenant}) }
}
RETURN label, key
