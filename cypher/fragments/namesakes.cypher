// Collect the beliefs that are equal to `asked` under aliases. Needs `asked`, `names` and `valid`; leaves `namesakes`,
// a list of maps.

CALL (asked, names, valid) {
  LET x = asked
  // include: fragments/value.cypher
  LET wanted = value
  MATCH (b:Belief)
  WHERE b.tenant = $tenant AND b.scope = asked.scope AND b.subject_key IN names AND b.predicate_key = asked.predicate_key
    AND b <> asked
  WITH b, wanted, b AS x
  // include: fragments/value.cypher
  FILTER value = wanted
  MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/counted.cypher
  WITH b, count(*) AS events
  ORDER BY b.id
  RETURN collect({belief_id: b.id, statement: b.statement, events: events}) AS namesakes
}
