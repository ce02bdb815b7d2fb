// Make nodes of one kind that are not there yet, as an export has them.
// mode: write
// rows: one
// ids: nodes.key kind, nodes.properties.episode_id Episode, nodes.properties.first_id Event, nodes.properties.decided.beliefs.id Belief
// params:
//   $tenant  string  whose
//   $kind    string  Episode, Archive, Turn, Reply, Artifact, Item, Belief or Memory
//   $nodes   list    maps: key, properties, and embedding or null
// columns:
//   - written  integer  nodes made

UNWIND $nodes AS row
CALL (row) {
  FILTER $kind = 'Episode'
  CREATE (n:Episode {tenant: $tenant, id: row.key})
  SET n += row.properties
  RETURN n
UNION ALL
  FILTER $kind = 'Archive'
  CREATE (n:Archive {tenant: $tenant, id: row.key})
  SET n += row.properties
  RETURN n
UNION ALL
  FILTER $kind = 'Turn'
  CREATE (n:Turn {tenant: $tenant, id: row.key})
  SET n += row.properties
  RETURN n
UNION ALL
  FILTER $kind = 'Reply'
  CREATE (n:Reply {tenant: $tenant, id: row.key})
  SET n += row.properties
  RETURN n
UNION ALL
  FILTER $kind = 'Artifact'
  CREATE (n:Artifact {tenant: $tenant, id: row.key})
  SET n += row.properties
  RETURN n
UNION ALL
  FILTER $kind = 'Item'
  CREATE (n:Item {tenant: $tenant, id: row.key})
  SET n += row.properties
  RETURN n
UNION ALL
  FILTER $kind = 'Belief'
  CREATE (n:Belief {tenant: $tenant, id: row.key})
  SET n += row.properties
  RETURN n
UNION ALL
  FILTER $kind = 'Memory'
  CREATE (n:Memory {tenant: $tenant, id: row.key})
  SET n += row.properties
  RETURN n
}
CALL (n, row) {
  FILTER row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
}
RETURN count(n) AS written
