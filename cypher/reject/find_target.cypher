// Look up what is to be rejected: a memory or a belief by its id, or the rulings about a value by its keys; and the event
// with a given id. Run it after commit/lock.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $scopes      list    read scopes of the writer
//   $event_id    string  id of the event to be written
//   $id          string  id of a memory or a belief; null: none
//   $value_keys  list    keys of a value and of its sentence: see rules/rejections.py; null: those of the item
// columns:
//   - event       map       id, request_hash, or null
//   - item        map       label, id, scope, value_key, and the fields from which its digests are computed; null: not visible
//   - statements  list      statements of the visible beliefs that state the value
//   - digests     list      digests of all that the rejections in force were about
//   - ruled_at    datetime  time of the newest ruling about it; null: none
//   - rejected    boolean   whether it is rejected for the writer

OPTIONAL MATCH (e:Event {tenant: $tenant, id: $event_id})
OPTIONAL MATCH (m:Memory|Belief {tenant: $tenant, id: $id})
WHERE m.scope IN $scopes
LET value_keys = coalesce($value_keys, [m.value_key, m.statement_key]), until = null, recorded = null
// include: fragments/rejection.cypher
RETURN e {.id, .request_hash} AS event,
       m {
         .id, .scope, .value_key, .content, .statement, .subject_key, .predicate_key, .object_key,
         label: CASE WHEN m:Memory THEN 'Memory' ELSE 'Belief' END
       } AS item,
       COLLECT {
         MATCH (b:Belief)
         WHERE b.tenant = $tenant AND b.value_key = $value_keys[0] AND b.scope IN $scopes
         RETURN DISTINCT b.statement
         ORDER BY b.statement
       } AS statements,
       COLLECT {
         UNWIND standing AS x
         MATCH (about:Event {tenant: $tenant, id: x.id})
         UNWIND about.value_digests AS digest
         RETURN DISTINCT digest
       } AS digests,
       ruled_at, rejection IS NOT NULL AS rejected
LIMIT 1
