// A page of what is kept beside the memory, one kind of it: names, policies, ratings, how far the work has come. As transfer/read.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string    tenant name
//   $known   datetime  what was recorded later is left out
//   $kind    string    Name, Predicate, Consolidation, Rating or Rater
//   $part    string    of ratings: the label of what is rated; else ''
//   $after   string    the last page ended at this key; '' for the first
//   $limit   integer   maximum number of nodes per page
// columns:
//   - looked   integer  nodes looked at; 0 after the last page
//   - after    string   the key that the page ended at
//   - records  list     maps of the nodes that are taken: key, properties, links, texts and namespace (of an item, else null)

CALL () {
  FILTER $kind = 'Name'
  MATCH (n:Name) WHERE n.tenant = $tenant AND n.key > $after
  RETURN n, n.key AS key ORDER BY n.tenant, n.key LIMIT $limit
UNION ALL
  FILTER $kind = 'Predicate'
  MATCH (n:Predicate) WHERE n.tenant = $tenant AND n.key > $after
  RETURN n, n.key AS key ORDER BY n.tenant, n.key LIMIT $limit
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
// include: fragments/exported.cypher
