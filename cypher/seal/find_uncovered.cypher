// Return a page of the nodes of one label, with those that no seal covers and no event without a seal states. Paged by key.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $label   string    Memory, Belief, Turn, Episode, Name, Predicate or Rejection
//   $before  datetime  end of the newest seal
//   $after   string    key of the last node of the previous page; '' for the first page
// columns:
//   - looked  integer  number of nodes read; 0 after the last page
//   - after   string   key of the last node of the page
//   - late    list     keys of those that were added before the newest seal ended

CALL () {
  MATCH (x:Memory) WHERE x.tenant = $tenant AND x.id > CASE $label WHEN 'Memory' THEN $after END
  RETURN x, x.id AS key ORDER BY x.tenant, x.id LIMIT $limit
UNION ALL
  MATCH (x:Belief) WHERE x.tenant = $tenant AND x.id > CASE $label WHEN 'Belief' THEN $after END
  RETURN x, x.id AS key ORDER BY x.tenant, x.id LIMIT $limit
UNION ALL
  MATCH (x:Turn) WHERE x.tenant = $tenant AND x.id > CASE $label WHEN 'Turn' THEN $after END
  RETURN x, x.id AS key ORDER BY x.tenant, x.id LIMIT $limit
UNION ALL
  MATCH (x:Episode) WHERE x.tenant = $tenant AND x.id > CASE $label WHEN 'Episode' THEN $after END
  RETURN x, x.id AS key ORDER BY x.tenant, x.id LIMIT $limit
UNION ALL
  MATCH (x:Name) WHERE x.tenant = $tenant AND x.id > CASE $label WHEN 'Name' THEN $after END
  RETURN x, x.id AS key ORDER BY x.tenant, x.id LIMIT $limit
UNION ALL
  MATCH (x:Predicate) WHERE x.tenant = $tenant AND x.id > CASE $label WHEN 'Predicate' THEN $after END
  RETURN x, x.id AS key ORDER BY x.tenant, x.id LIMIT $limit
UNION ALL
  MATCH (x:Rejection) WHERE x.tenant = $tenant AND x.id > CASE $label WHEN 'Rejection' THEN $after END
  RETURN x, x.id AS key ORDER BY x.tenant, x.id LIMIT $limit
}
LET late = NOT EXISTS { (x)<-[:SEALS]-(:Seal {tenant: $tenant}) } AND CASE
  WHEN x:Turn OR x:Episode THEN coalesce(x.recorded_at < $before, true)
  ELSE NOT EXISTS {
    MATCH (x)<-[:REINFORCES|SUPPORTS|REFUTES|CONCERNS|NAMES]-(e:Event {tenant: $tenant})
    WHERE NOT EXISTS { (e)<-[:SEALS]-(:Seal {tenant: $tenant}) }
  }
END
RETURN count(x) AS looked, max(key) AS after, collect(CASE WHEN late THEN key END) AS late
