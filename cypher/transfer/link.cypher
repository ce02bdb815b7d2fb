// Create the relationships of an export. Existing relationships are skipped.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// refers_to: links.start start_label, links.end end_label
// params:
//   $links  list  maps: type, start_label, start, end_label, end (ids; key of a name or a predicate), and has: properties
// columns:
//   - written  integer  number of relationships created
//   - missing  list     ids of nodes that do not exist

UNWIND $links AS link
WITH link, link.start_label AS label, link.start AS key
// include: fragments/node_by_key.cypher
WITH link, x AS a, link.end_label AS label, link.end AS key
// include: fragments/node_by_key.cypher
// A log entry belongs to a session only.
LET b = CASE WHEN link.type = 'WITHIN' AND x.type <> 'SESSION_START' THEN null ELSE x END
LET evidence = link.type IN ['SUPPORTS', 'REFUTES'], has = link.has
CALL (link, has, evidence, a, b) {
  FILTER a IS NOT NULL AND b IS NOT NULL AND NOT EXISTS {
    MATCH (a)-[r:$(link.type)]->(b)
    WHERE coalesce(r.event_id, '') = coalesce(has.event_id, '')
  }
  CREATE (a)-[r:$(link.type) {
    tenant: CASE WHEN evidence THEN a.tenant END, slot_id: CASE WHEN evidence THEN b.slot_id END,
    event_id: has.event_id, occurred_at: has.occurred_at,
    recorded_at: CASE WHEN evidence THEN a.recorded_at ELSE has.recorded_at END, in_force: has.in_force,
    rank: has.rank, similarity: has.similarity, content_hash: has.content_hash, before: has.before, after: has.after
  }]->(b)
  RETURN count(r) AS made
}
RETURN sum(made) AS written,
       collect(CASE WHEN a IS NULL THEN link.start END) + collect(CASE WHEN b IS NULL THEN link.end END) AS missing
