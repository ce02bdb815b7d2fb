// Build the export record of `n`, a node with this `key`, as of $known. Each relationship is exported with the later of
// its two nodes, by kind and then by key, so that a reader that streams the file has both. One row; it ends the query.
// A node described by events is included if one of them was visible; newer data is left out.
// needs: n, key

LET described = n:Memory OR n:Name OR n:Predicate
LET taken = CASE
  WHEN described AND EXISTS { (n)<--(:Event) } THEN EXISTS { (n)<--(e:Event) WHERE e.recorded_at <= $known }
  WHEN n:Archive THEN true
  ELSE coalesce(n.recorded_at <= $known, true)
END
LET links = COLLECT {
  MATCH (n)-[r]->(x)
  WHERE NOT x:Archive AND NOT x:ItemText AND NOT x:Namespace
    AND (labels(x) <> labels(n) OR x.id < n.id)
    AND (x:Predicate OR coalesce(r.recorded_at, x.recorded_at, $known) <= $known)
  RETURN {type: type(r), label: labels(x)[0], key: coalesce(x.id, x.key), leaves: true, properties: properties(r)} AS link
UNION ALL
  MATCH (n)<-[r:SUPERSEDES|NEXT|RETRACTS|CONCERNS|WITHIN|ARCHIVED_AS]-(x)
  WHERE (n:Archive OR (labels(x) = labels(n) AND x.id < n.id))
    AND coalesce(r.recorded_at, x.recorded_at, $known) <= $known
  RETURN {type: type(r), label: labels(x)[0], key: x.id, leaves: false, properties: properties(r)} AS link
}
LET texts = CASE WHEN n:Item THEN COLLECT { MATCH (n)-[:FOUND_BY]->(t:ItemText) RETURN properties(t) ORDER BY t.name } END
LET namespace = CASE WHEN n:Item THEN COLLECT { MATCH (n)-[:STANDS_IN]->(s:Namespace) RETURN properties(s) }[0] END
RETURN
  count(n) AS looked,
  max(key) AS after,
  collect(CASE WHEN taken THEN {key: key, properties: properties(n), links: links, texts: texts, namespace: namespace} END) AS records
