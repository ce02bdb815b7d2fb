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
  FILTER $kind = 'Name'
  MATCH (n:Name) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Predicate'
  MATCH (n:Predicate) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Rejection'
  MATCH (n:Rejection) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Consolidation'
  MATCH (n:Consolidation) WHERE n.tenant = $tenant AND n.scope > $after
  RETURN n, n.scope AS key ORDER BY n.tenant, n.scope LIMIT $limit
UNION ALL
  FILTER $kind = 'Rating'
  MATCH (n:Rating) WHERE n.tenant = $tenant AND n.kind = $part AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.kind, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Rater' AND $after = ''
  MATCH (n:Rater {tenant: $tenant})
  RETURN n, n.tenant AS key LIMIT $limit
}
// include: fragments/export_record.cypher
