// Look up what is to be rejected: a memory or a belief by its id, or the rulings about a value by its key; and the event
// with a given id. Run it after commit/lock.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $scope      string  write scope
//   $scopes     list    read scopes of the writer
//   $event_id   string  id of the event to be written
//   $id         string  id of a memory or a belief; null: none
//   $value_key  string  key of the value: see rules/rejections.py; null: that of the item
// columns:
//   - event     map       id, request_hash, or null
//   - item      map       label, id, scope, value_key, and the fields from which its digest is computed; null: not visible
//   - foreign   string    another read scope with a current belief that states the value, if none of the write scope does; null: none
//   - ruled_at  datetime  time of the newest ruling about the value; null: none
//   - rejected  boolean   whether the value is rejected

OPTIONAL MATCH (e:Event {tenant: $tenant, id: $event_id})
OPTIONAL MATCH (m:Memory|Belief {tenant: $tenant, id: $id})
WHERE m.scope IN $scopes
LET value_key = coalesce(m.value_key, $value_key), ruled_scope = $scope
// include: fragments/rejection.cypher
RETURN e {.id, .request_hash} AS event,
       m {
         .id, .scope, .value_key, .content, .statement, .subject_key, .predicate_key, .object_key,
         label: CASE WHEN m:Memory THEN 'Memory' ELSE 'Belief' END
       } AS item,
       COLLECT {
         MATCH (b:Belief)
         WHERE b.tenant = $tenant AND b.value_key = $value_key AND b.scope IN $scopes AND b.status = 'current'
           AND NOT EXISTS { MATCH (own:Belief) WHERE own.tenant = $tenant AND own.value_key = $value_key AND own.scope = $scope }
         RETURN b.scope LIMIT 1
       }[0] AS foreign,
       ruling.rejected_at AS ruled_at, rejection IS NOT NULL AS rejected
LIMIT 1
