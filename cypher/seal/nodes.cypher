// Return nodes that events state something about, as a seal covers them. Run it after commit/lock.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $nodes  list  maps: label and key
//   $content  map  names of the covered properties by label: see integrity/contents.py
// columns:
//   - node  map  label, key, properties: pairs of name and value

UNWIND $nodes AS row
WITH row.label AS label, row.key AS key
// include: fragments/node_by_key.cypher
FILTER x IS NOT NULL
// include: fragments/sealed_node.cypher
RETURN record AS node
