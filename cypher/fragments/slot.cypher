// Match the evidence of a slot, under every name of its subject. Needs `scope`, `names`, `predicate_key` and `mine`, a
// list of beliefs; leaves rows of `b` and `e`. Beliefs that are equal under aliases are represented by one: one of
// `mine`, else the one whose subject name comes first.

MATCH (x:Belief)
WHERE x.tenant = $tenant AND x.scope = scope AND x.subject_key IN names AND x.predicate_key = predicate_key
// include: fragments/value.cypher
WITH *
ORDER BY x IN mine DESC, coll.indexOf(names, x.subject_key), x.object_key = value DESC, x.id
WITH value, collect(x) AS same
UNWIND same AS x
LET b = same[0]
MATCH (x)<-[:SUPPORTS|REFUTES]-(e:Event)
