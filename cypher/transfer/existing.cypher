// Look up which nodes of an export exist. Run it after commit/lock.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $kind  string  Episode, Archive, Turn, Reply, Artifact, Item, Belief, Memory, Event or Seal
//   $ids   list    node ids
// columns:
//   - id          string  id of the node
//   - properties  map     all properties of the node

UNWIND $ids AS key
WITH $kind AS label, key
// include: fragments/node_by_key.cypher
FILTER x IS NOT NULL
RETURN key AS id, properties(x) AS properties
