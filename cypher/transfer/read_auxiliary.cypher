// Return a page of auxiliary nodes of one kind, as transfer/read does. The kinds are names, policies, ratings and the
// progress of background work.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $known  datetime  upper bound of known time
//   $kind   string    Name, Predicate, Consolidation, Rating or Rater
//   $part   string    label of the rated items, for ratings; else ''
//   $after  string    key of the last node of the previous page; '' for the first page
// columns:
//   - looked   integer  number of nodes read; 0 after the last page
//   - after    string   key of the last node of the page
//   - records  list     maps of the exported nodes: key, properties, links, texts and namespace (of an item, else null)

CALL () {
  MATCH (n:Name) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Name' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Predicate) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Predicate' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Rejection) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Rejection' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Consolidation) WHERE n.tenant = $tenant AND n.scope > CASE $kind WHEN 'Consolidation' THEN $after END
  RETURN n, n.scope AS key ORDER BY n.tenant, n.scope LIMIT $limit
UNION ALL
  MATCH (n:Rating) WHERE n.tenant = $tenant AND n.kind = $part AND n.id > CASE $kind WHEN 'Rating' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.kind, n.id LIMIT $limit
UNION ALL
  UNWIND CASE WHEN $kind = 'Rater' AND $after = '' THEN [1] ELSE [] END AS once
  MATCH (n:Rater {tenant: $tenant})
  RETURN n, n.tenant AS key LIMIT $limit
}
// include: fragments/export_record.cypher
