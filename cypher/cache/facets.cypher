// What is cached of some memories for searches by tag and source, beside what it rests on.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string  tenant name
//   $ids     list    of memories
// columns:
//   - id          string  of the memory
//   - sources     list    kept: where the events of its own scope came from; null before the first rebuild
//   - facet_keys  list    kept: full-text tokens of its tags and sources; null likewise
//   - tags        list    of the memory; none when what is there is no list of them
//   - told        list    its sources by the events of its own scope, sorted

MATCH (m:Memory {tenant: $tenant})
WHERE m.id IN $ids
CALL (m) {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.scope = m.scope
  RETURN coll.sort(collect(DISTINCT e.source)) AS told
}
RETURN m.id AS id, m.sources AS sources, m.facet_keys AS facet_keys,
       CASE WHEN m.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN m.tags ELSE [] END AS tags, told
