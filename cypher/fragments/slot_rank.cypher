// Rank a belief in its ONE slot, and count what competes with it and what equals it. Needs `asked`, the belief,
// `members` (fragments/slot.cypher, with `asked` first), `valid` and `policy`, $weights; leaves `one`, a map of the
// rank, or null; `other_candidates`, candidates affirmed since; and `alias_beliefs`, equal beliefs under aliases; both lists of
// maps.
// needs: asked, members, valid, policy
// leaves: one, other_candidates, alias_beliefs

CALL (asked, members, valid, policy) {
  FILTER policy.cardinality = 'ONE'
  // include: fragments/slot_evidence.cypher
  // include: fragments/not_rejected.cypher
  // include: fragments/not_retracted.cypher
  // include: fragments/overwrite_strength.cypher
  // include: fragments/to_one_row.cypher
  // include: fragments/project_one.cypher
  LET i = coll.indexOf([v IN ranked | v.b], asked)
  LET v = ranked[i]
  LET one = CASE WHEN i >= 0 THEN v {
    .*, b: null, place: i + 1, of: size(ranked), ambiguous: close AND i < 2, leader_id: ranked[0].b.id
  } END
  CALL (asked, instants, one) {
    UNWIND [x IN instants WHERE x.at > one.last_at] AS x
    UNWIND [y IN x.rows WHERE y.polarity = 1 AND y.b <> asked] AS y
    WITH y.b AS b, count(*) AS events
    ORDER BY events DESC, b.id
    RETURN collect({belief_id: b.id, object: b.object, events: events}) AS other_candidates
  }
  RETURN one, other_candidates
}
CALL (asked, members, valid) {
  UNWIND [x IN members WHERE x.b = asked AND x.x <> asked | x.x] AS b
  MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/not_retracted.cypher
  WITH b, count(*) AS events
  ORDER BY b.id
  RETURN collect({belief_id: b.id, statement: b.statement, events: events}) AS alias_beliefs
}
