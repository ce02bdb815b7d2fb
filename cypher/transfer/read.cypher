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
  MATCH (n:Episode) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Episode' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Archive) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Archive' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Turn) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Turn' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Reply) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Reply' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Artifact) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Artifact' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Item) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Item' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Belief) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Belief' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Memory) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Memory' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Event) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Event' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Seal) WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'Seal' THEN $after END
  RETURN n, n.id AS key ORDER BY n.tenant, n.id LIMIT $limit
}
// include: fragments/export_record.cypher
