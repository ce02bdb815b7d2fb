// Return the next tenant, by name, that has data. Search logs alone do not count.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $after  string  previous tenant; '' at the start
// columns:
//   - tenant  string  tenant name; null after the last one

CALL () {
  MATCH (n:Tenant)
  WHERE n.tenant > $after
  RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
UNION ALL
  MATCH (n:Memory)
  WHERE n.tenant > $after AND n.id > ''
  RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
UNION ALL
  MATCH (n:Belief)
  WHERE n.tenant > $after AND n.id > ''
  RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
UNION ALL
  MATCH (n:Episode)
  WHERE n.tenant > $after AND n.id > ''
  RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
UNION ALL
  MATCH (n:Namespace)
  WHERE n.tenant > $after AND n.id > ''
  RETURN n.tenant AS tenant ORDER BY n.tenant LIMIT 1
}
RETURN min(tenant) AS tenant
