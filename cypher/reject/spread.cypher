// Copy rulings from tombstones to the memories and beliefs that state their values, and update their status.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $ids  list  ids of tombstones: see rules/rejections.py
// columns:

UNWIND $ids AS id
MATCH (r:Rejection {tenant: $tenant, id: id})
// include: fragments/stating_value.cypher
WITH DISTINCT m
ORDER BY m.id
// include: fragments/take_rulings.cypher
// include: fragments/refresh_status.cypher
