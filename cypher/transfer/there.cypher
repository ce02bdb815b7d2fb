// What of an export's nodes is there already. Run it after commit/lock.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $kind    string  Episode, Archive, Turn, Reply, Artifact, Item, Belief, Memory or Event
//   $ids     list    of the nodes
// columns:
//   - id          string  of the node
//   - properties  map     all it has

UNWIND $ids AS key
WITH $kind AS label, key
// include: fragments/keyed.cypher
FILTER x IS NOT NULL
RETURN key AS id, properties(x) AS properties
