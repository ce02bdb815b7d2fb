// Record a long call that a client asked for, unless it is recorded. Removes calls of the tenant that ended long ago.
// mode: write
// rows: one
// plan: MergeUniqueNode
// params:
//   $id         string   id of the operation
//   $method     string   method of the client
//   $digest     string   digest of the method and its arguments
//   $arguments  string   arguments, JSON
//   $trust      string   class of the writer
//   $key_id     string   id of the key; null: the server has no keys
//   $keep_days  integer  days for which calls that ended are kept
// columns:
//   - digest  string  digest of the call that is recorded under this id

CALL () {
  MATCH (old:JobUnit)
  WHERE old.tenant = $tenant AND old.id STARTS WITH 'op_' AND old.finished_at < datetime.realtime('Z') - duration({days: $keep_days})
  WITH old LIMIT 100
  DETACH DELETE old
}
MERGE (u:JobUnit {tenant: $tenant, id: $id})
ON CREATE SET
    u.job = 'operation',
    u.unit = $method,
    u.scope = $scope,
    u.scopes = $scopes,
    u.trust = $trust,
    u.key_id = $key_id,
    u.digest = $digest,
    u.arguments = $arguments,
    u.asked_at = datetime.truncate('microsecond', datetime.realtime('Z')),
    u.due_at = datetime.truncate('microsecond', datetime.realtime('Z'))
RETURN u.digest AS digest
