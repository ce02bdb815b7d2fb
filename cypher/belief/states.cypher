// Return beliefs with their belief value and test state, by id or as a page, newest first. The value of a candidate of
// a ONE slot takes the whole slot into account.
// mode: read
// rows: many
// plan: NodeIndexSeek NodeUniqueIndexSeek
// params:
//   $ids        list      belief ids; null: a page
//   $statuses   list      statuses to return, as of the read; pages only
//   $before_at  datetime  created_at of the last row of the previous page; null: the first page
//   $before_id  string    id of the last row of the previous page
// columns:
//   - card       map       id, scope, statement, subject, predicate, object, recorded_at, depth, status as of the read, created_at
//   - initial    float     confidence before any evidence
//   - projected  map       belief, positive, negative, supporting_episodes, refuting_episodes, contested, events; null: no evidence
//   - score      float     score of a candidate of a ONE slot, with decay; null otherwise
//   - verdict    map       status, log_ratio, confidence, evidence
//   - trust      integer   its rank, see rules/trust.py
//   - vitality   map       vitality: see fragments/vitality.cypher
//   - now        datetime  server clock

// include: fragments/requested_beliefs.cypher
// include: fragments/belief_created_as_of.cypher
FILTER $before_at IS NULL OR created_at < $before_at OR (created_at = $before_at AND m.id < $before_id)
// Sorting before the status is computed limits that work to the beliefs of the page.
WITH * ORDER BY place, created_at DESC, m.id DESC
CALL (m) {
  WITH m AS node
  // include: fragments/status_as_of.cypher
  RETURN status
}
FILTER $ids IS NOT NULL OR status IN $statuses
WITH place, m {.id, .scope, .statement, .subject, .predicate, .object, .recorded_at, depth: coalesce(m.depth, 0), status: status, created_at: created_at} AS card,
     created_at, m AS asked, m AS b, $valid AS valid, [] AS shown, null AS last_id, coalesce(m.predicate_key, '') AS predicate_key, m.scope AS scope
LIMIT $limit
// include: fragments/prior.cypher
// include: fragments/policy.cypher
CALL (b, valid) {
  MATCH (b)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/not_retracted.cypher
  WITH e ORDER BY e.occurred_at, e.id
  RETURN collect(e) AS evidence
}
// include: fragments/belief_trust.cypher
// include: fragments/vitality.cypher
CALL (asked, evidence, valid, policy) {
  UNWIND evidence AS e
  WITH asked AS b, e, false AS covered
  // include: fragments/noisy_or_term.cypher
  // include: fragments/to_many_row.cypher
  // include: fragments/project_many.cypher
  RETURN collect(projected)[0] AS projected
}
CALL (evidence, initial, shown) {
  UNWIND evidence AS e
  // include: fragments/sprt_llr.cypher
  // include: fragments/sequential.cypher
  RETURN verdict
}
// The candidates of a slot are ranked once, regardless of how many of them are returned.
WITH asked.slot_id AS slot_id, $valid AS valid, head(collect(policy)) AS policy, collect({
  asked: asked, place: place, card: card, initial: initial, projected: projected, verdict: verdict, vitality: vitality, trust: trust, revived: revived
}) AS listed
CALL (valid, policy, listed) {
  UNWIND CASE policy.cardinality WHEN 'ONE' THEN [listed[0].asked] ELSE [] END AS asked
  LET scope = asked.scope, subject_key = asked.subject_key, predicate_key = asked.predicate_key, mine = []
  // include: fragments/subject_names.cypher
  // include: fragments/slot.cypher
  // include: fragments/slot_evidence.cypher
  // include: fragments/not_rejected.cypher
  // include: fragments/not_retracted.cypher
  // include: fragments/overwrite_strength.cypher
  // include: fragments/to_one_row.cypher
  // include: fragments/project_one.cypher
  RETURN ranked
}
UNWIND [x IN listed | [x.asked, x, null, null]] + [x IN ranked | [x.b, null, x.belief, x.last_id]] AS found
LET x = found[0]
// include: fragments/canonical_value.cypher
WITH slot_id, value, collect(found[1]) AS members, head(collect(found[2])) AS score, head(collect(found[3])) AS last_id
UNWIND members AS member
RETURN member.card AS card, member.initial AS initial, member.projected AS projected, score, member.verdict AS verdict,
       coll.min([x IN [member.revived, coalesce(COLLECT { MATCH (e:Event {tenant: $tenant, id: last_id}) RETURN e.trust }[0], member.trust)] WHERE x IS NOT NULL]) AS trust,
       member.vitality AS vitality, datetime.realtime('Z') AS now
ORDER BY member.place, card.created_at DESC, card.id DESC
