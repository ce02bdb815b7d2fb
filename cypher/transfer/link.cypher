// Relate nodes as an export has it; what is related so already is passed over.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// ids: links.start start_label, links.end end_label
// params:
//   $tenant  string  whose
//   $links   list    maps: type, start_label, start, end_label, end (ids; of a name or a predicate its key), properties, and wall: the tenant where the relationship carries it
// columns:
//   - written  integer  relationships made
//   - missing  list     ids of nodes that are not there

UNWIND $links AS link
WITH link, link.start_label AS label, link.start AS key
// include: fragments/keyed.cypher
WITH link, x AS a, link.end_label AS label, link.end AS key
// include: fragments/keyed.cypher
WITH link, a, x AS b
CALL (link, a, b) {
  FILTER a IS NOT NULL AND b IS NOT NULL AND NOT EXISTS {
    MATCH (a)-[r:$(link.type)]->(b)
    WHERE coalesce(r.event_id, '') = coalesce(link.properties.event_id, '')
  }
  LET has = link.properties
  CREATE (a)-[r:$(link.type) {
    tenant: link.wall, slot_id: has.slot_id, event_id: has.event_id, occurred_at: has.occurred_at, recorded_at: has.recorded_at,
    in_force: has.in_force, rank: has.rank, similarity: has.similarity, content_hash: has.content_hash,
    before: has.before, after: has.after
  }]->(b)
  RETURN count(r) AS made
}
RETURN sum(made) AS written,
       collect(CASE WHEN a IS NULL THEN link.start END) + collect(CASE WHEN b IS NULL THEN link.end END) AS missing
