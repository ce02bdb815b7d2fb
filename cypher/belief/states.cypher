// Beliefs with what is believed of each and where its test stands: those with the ids given, or a page, newest first. The
// belief of a ONE slot's value is read from the whole slot.
// mode: read
// rows: many
// plan: NodeIndexSeek NodeUniqueIndexSeek
// params:
//   $tenant          string    whose
//   $scopes          list      scopes the reader can see
//   $ids             list      of beliefs; null: a page
//   $statuses        list      of a page: which to show
//   $before_at       datetime  of a page: the last one ended at this created_at; null: the first page
//   $before_id       string    and this id
//   $limit           integer   rows of a page
//   $valid           datetime  instant in the world that is asked about
//   $known           datetime  what was recorded later is not seen; null: everything
//   $policy          map       to read by; null: as declared
//   $present_policy  boolean   read by the policy declared by now, and not by that of $valid and $known
//   $default_policy  map       of a predicate that nobody declared
//   $weights         map       reliability of each source type, in (0, 1]
//   $test            map       upper, lower, promote_step, demote_step, most, least
// columns:
//   - card       map    id, scope, statement, subject, predicate, object, status, created_at, recorded_at
//   - initial    float  confidence before any evidence
//   - projected  map    belief, positive, negative, supporting_episodes, refuting_episodes, contested, events; null: no evidence
//   - score      float  of a ONE slot's value, faded; null otherwise
//   - verdict    map    status, log_ratio, confidence, evidence
//   - now        datetime  the server's clock

CALL () {
  FILTER $ids IS NOT NULL
  UNWIND range(0, size($ids) - 1) AS place
  MATCH (asked:Belief {tenant: $tenant, id: $ids[place]})
  WHERE asked.scope IN $scopes
  RETURN asked, place
UNION ALL
  FILTER $ids IS NULL
  MATCH (asked:Belief)
  WHERE asked.tenant = $tenant AND asked.scope IN $scopes AND asked.created_at <= $valid AND asked.status IN $statuses
    AND ($before_at IS NULL OR asked.created_at < $before_at OR (asked.created_at = $before_at AND asked.id < $before_id))
  RETURN asked, 0 AS place
  ORDER BY asked.created_at DESC, asked.id DESC
  LIMIT $limit
}
WITH asked, place, $valid AS valid, [] AS shown, coalesce(asked.predicate_key, '') AS predicate_key
WHERE EXISTS {
  MATCH (asked)<-[:SUPPORTS|REFUTES|CONCERNS]-(x:Event)
  WHERE x.occurred_at <= valid AND ($known IS NULL OR x.recorded_at <= $known)
}
WITH *, asked AS b
// include: fragments/initial.cypher
// include: fragments/policy.cypher
CALL (asked, valid, policy) {
  WITH asked AS b
  MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/counted.cypher
  WITH b, e, false AS covered
  // include: fragments/says.cypher
  // include: fragments/beside_others.cypher
  // include: fragments/project_many.cypher
  RETURN collect(projected)[0] AS projected
}
CALL (asked, valid, policy) {
  FILTER policy.cardinality = 'ONE' AND asked.subject_key IS NOT NULL
  MATCH (b:Belief {
    tenant: $tenant, scope: asked.scope, subject_key: asked.subject_key, predicate_key: asked.predicate_key
  })
  MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/counted.cypher
  // include: fragments/weighs.cypher
  // include: fragments/among_others.cypher
  // include: fragments/project_one.cypher
  RETURN head([x IN ranked WHERE x.b = asked | x.belief]) AS score
}
CALL (asked, valid, initial, shown) {
  WITH asked AS b
  MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/counted.cypher
  // include: fragments/heard.cypher
  // include: fragments/sequential.cypher
  RETURN verdict
}
RETURN asked {
  .id, .scope, .statement, .subject, .predicate, .object, .status, .created_at, .recorded_at
} AS card, initial, projected, score, verdict, datetime.realtime('Z') AS now
ORDER BY place, card.created_at DESC, card.id DESC
