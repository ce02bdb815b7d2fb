// Return a page of the nodes of one kind, each with its relationships to nodes exported earlier.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $known  datetime  upper bound of known time
//   $kind   string    Episode, Archive, Turn, Reply, Artifact, Item, Belief, Memory, Event or Seal
//   $after  string    key of the last node of the previous page; '' for the first page
// columns:
//   - looked   integer  number of nodes read; 0 after the last page
//   - after    string   key of the last node of the page
//   - records  list     maps of the exported nodes: key, properties, links, texts and namespace (of an item, else null)

CALL () {
  FILTER $kind = 'Episode'
  MATCH (n:Episode) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Archive'
  MATCH (n:Archive) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Turn'
  MATCH (n:Turn) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Reply'
  MATCH (n:Reply) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Artifact'
  MATCH (n:Artifact) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Item'
  MATCH (n:Item) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Belief'
  MATCH (n:Belief) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Memory'
  MATCH (n:Memory) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Event'
  MATCH (n:Event) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  FILTER $kind = 'Seal'
  MATCH (n:Seal) WHERE n.tenant = $tenant AND n.id > $after
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
}
// include: fragments/export_record.cypher
