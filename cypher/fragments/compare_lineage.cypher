// Whether what is cached of the lineage of `m` is what its events say. Needs `m` and what fragments/lineage_as_of.cypher leaves;
// leaves `cached`, `found` and `wrong`.

CALL (m, links) {
  MATCH (m)<-[s:SUPERSEDES]-()
  RETURN count(CASE WHEN none(link IN links WHERE link.event_id = s.event_id AND link.in_force = s.in_force) THEN 1 END) AS edges
}
LET cached = coalesce(m.status, 'unknown') + CASE edges WHEN 0 THEN '' ELSE ', ' + edges + ' edges otherwise' END,
    found = status,
    wrong = edges > 0 OR coalesce(m.status <> status, true)
