// Match one page of the nodes of a kind.
// leaves: id (the page key), n (the node with the embedding: the node itself, or each text of an item; null if it has
// none)

CALL () {
  MATCH (n:Memory)
  WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'memory' THEN $after END
  WITH n ORDER BY n.id LIMIT $limit
  RETURN n.id AS id, n
UNION ALL
  MATCH (n:Belief)
  WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'belief' THEN $after END
  WITH n ORDER BY n.id LIMIT $limit
  RETURN n.id AS id, n
UNION ALL
  MATCH (n:Turn)
  WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'turn' THEN $after END
  WITH n ORDER BY n.id LIMIT $limit
  RETURN n.id AS id, n
UNION ALL
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.id > CASE $kind WHEN 'episode' THEN $after END
  WITH n ORDER BY n.id LIMIT $limit
  RETURN n.id AS id, n
UNION ALL
  MATCH (i:Item)
  WHERE i.tenant = $tenant AND i.id > CASE $kind WHEN 'item' THEN $after END
  WITH i ORDER BY i.id LIMIT $limit
  OPTIONAL MATCH (i)-[:FOUND_BY]->(n:ItemText {tenant: $tenant})
  RETURN i.id AS id, n
}
