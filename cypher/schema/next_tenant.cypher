// Return the next tenant, by name, that has nodes with an embedding, or predicates.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $after  string  previous tenant; '' at the start
// columns:
//   - tenant  string  tenant name; null after the last one

CALL () {
  MATCH (n:Memory)
  WHERE n.tenant > $after AND n.id > ''
  RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
UNION ALL
  MATCH (n:Belief)
  WHERE n.tenant > $after AND n.id > ''
  RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
UNION ALL
  MATCH (n:Turn)
  WHERE n.tenant > $after AND n.id > ''
  RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
UNION ALL
  MATCH (n:Episode)
  WHERE n.tenant > $after AND n.id > ''
  RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
UNION ALL
  MATCH (n:Predicate)
  WHERE n.tenant > $after AND n.id > ''
  RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
UNION ALL
  MATCH (n:Item)
  WHERE n.tenant > $after AND n.id > ''
  RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
}
RETURN min(tenant) AS tenant
