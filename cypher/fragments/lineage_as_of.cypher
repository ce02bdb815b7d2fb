// What follows for `m`, a memory or a belief, from what is seen at ($valid, $known): its status, where its chain ends, and the
// SUPERSEDES edges onto it. Needs `m`; leaves `status`, `head_ids` (none unless it is superseded) and `links`, maps. It walks
// the chain, so whoever needs no head takes fragments/standing_as_of.cypher.

CALL (m) {
  MATCH (m)<-[path:SUPERSEDES*0..]-(node)
  WHERE node.tenant = $tenant
    AND all(s IN path WHERE s.occurred_at <= $valid AND ($known IS NULL OR s.recorded_at <= $known))
  // DISTINCT lets the server walk each node once, however many ways lead to it.
  WITH DISTINCT m, node
  // include: fragments/standing_as_of.cypher
  WITH m, head(collect(CASE node WHEN m THEN status END)) AS status, head(collect(CASE node WHEN m THEN links END)) AS links,
       coll.flatten(collect(edges)) AS in_force, collect(CASE edges WHEN [] THEN node END) AS ends
  CALL (m, status, in_force, ends) {
    FILTER status = 'superseded'
    MATCH (m)<-[path:SUPERSEDES*0..]-(top)
    // The server makes a set of a list that stays the same, so each look takes the same time.
    WHERE top.tenant = $tenant AND all(s IN path WHERE s IN in_force)
    WITH DISTINCT top, ends
    WHERE top IN ends
    RETURN coll.sort(collect(top.id)) AS head_ids
  }
  RETURN status, links, head_ids
}
