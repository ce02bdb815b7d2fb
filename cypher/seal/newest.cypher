// Return nodes other than events with the newest entry of a seal about each.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $nodes    list  maps: label, key, and entry, the name of their entries
//   $content  map   names of the covered properties by label: see integrity/contents.py
// columns:
//   - node    map     label, key, properties: pairs of name and value
//   - salt    string  salt of the entry
//   - leaves  string  salted digests of the entry

UNWIND $nodes AS row
WITH row.entry AS entry, row.label AS label, row.key AS key
// include: fragments/node_by_key.cypher
FILTER x IS NOT NULL
CALL (x) {
  MATCH (x)<-[:SEALS]-(s:Seal {tenant: $tenant})
  RETURN s
  ORDER BY s.id DESC
  LIMIT 1
}
LET place = coll.indexOf(s.ids, entry)
FILTER place >= 0
// include: fragments/sealed_node.cypher
RETURN record AS node, s.salts[place] AS salt, s.leaves[place] AS leaves
