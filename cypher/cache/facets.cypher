// Return the cached search facets of memories, and the data they are computed from.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  memory ids
// columns:
//   - id          string  memory id
//   - sources     list    cached: sources of the events of its own scope; null before the first rebuild
//   - facet_keys  list    cached: full-text tokens of its tags and sources; null before the first rebuild
//   - tags        list    tags of the memory; empty if the stored property is not a list of strings
//   - event_sources  list    sources of the events of its own scope, sorted

MATCH (m:Memory {tenant: $tenant})
WHERE m.id IN $ids
CALL (m) {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR'] AND e.scope = m.scope
  RETURN coll.sort(collect(DISTINCT e.source)) AS event_sources
}
RETURN m.id AS id, m.sources AS sources, m.facet_keys AS facet_keys,
       CASE WHEN m.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN m.tags ELSE [] END AS tags, event_sources
