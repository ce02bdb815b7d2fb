// Erase a batch of the tombstones of a scope, and take their rulings from all memories and beliefs that state their values.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $limit  integer  maximum number of tombstones
// columns:
//   - removed  integer  number of tombstones erased

CALL () {
  MATCH (r:Rejection)
  WHERE r.tenant = $tenant AND r.id IS NOT NULL AND r.scope = $scope
  WITH r
  ORDER BY r.id
  LIMIT $limit
  RETURN collect(r.id) AS gone
}
CALL (gone) {
  UNWIND gone AS id
  MATCH (r:Rejection {tenant: $tenant, id: id})
  // include: fragments/stating_value.cypher
  RETURN collect(DISTINCT m.id) AS stating
}
CALL (gone) {
  UNWIND gone AS id
  MATCH (r:Rejection {tenant: $tenant, id: id})
  DETACH DELETE r
}
CALL (stating) {
  UNWIND stating AS id
  MATCH (m:Memory|Belief {tenant: $tenant, id: id})
  SET m.rulings = null, m.ruled_at = null, m.ruled_known = null, m.ruled_scopes = null, m.ruled_paths = null
  WITH m
  ORDER BY m.id
  // include: fragments/take_rulings.cypher
  // include: fragments/refresh_status.cypher
}
RETURN size(gone) AS removed
