// Match one page of the nodes of a kind.
// leaves: id (the page key), n (the node with the embedding: the node itself, or each text of an item; null if it has
// none)

CALL () {
  FILTER $kind = 'memory'
  MATCH (n:Memory)
  WHERE n.tenant = $tenant AND n.id > $after
  WITH n ORDER BY n.id LIMIT $limit
  RETURN n.id AS id, n
UNION ALL
  FILTER $kind = 'belief'
  MATCH (n:Belief)
  WHERE n.tenant = $tenant AND n.id > $after
  WITH n ORDER BY n.id LIMIT $limit
  RETURN n.id AS id, n
UNION ALL
  FILTER $kind = 'turn'
  MATCH (n:Turn)
  WHERE n.tenant = $tenant AND n.id > $after
  WITH n ORDER BY n.id LIMIT $limit
  RETURN n.id AS id, n
UNION ALL
  FILTER $kind = 'episode'
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.id > $after
  WITH n ORDER BY n.id LIMIT $limit
  RETURN n.id AS id, n
UNION ALL
  FILTER $kind = 'item'
  MATCH (i:Item)
  WHERE i.tenant = $tenant AND i.id > $after
  WITH i ORDER BY i.id LIMIT $limit
  OPTIONAL MATCH (i)-[:FOUND_BY]->(n:ItemText {tenant: $tenant})
  RETURN i.id AS id, n
}
