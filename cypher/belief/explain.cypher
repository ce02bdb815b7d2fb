// Explain why a belief is believed. Returns its policy, every evidence event with its weight in each reading,
// retractions, its rank in a ONE slot, its supersessions, and the memories that claim it.
// mode: read
// rows: one
// source: ESPER, Mneva; twins oracles/projection.py, oracles/sequential.py, oracles/retraction.py
// plan: NodeUniqueIndexSeek
// params:
//   $id              string    belief id
//   $valid           datetime  upper bound of valid time
//   $known           datetime  upper bound of known time; null: no bound
//   $policy          map       policy override; null: the declared policy
//   $default_policy  map       policy of undeclared predicates
//   $weights         map       reliability of each source type, in (0, 1]
//   $test            map       upper, lower, promote_step, demote_step, max_confidence, min_confidence
//   $skip            integer   number of evidence events to skip, oldest first
//   $limit           integer   maximum number of evidence events, and of retracted events and memories
// columns:
//   - card              map       id, scope, statement, subject, predicate, object, depth, status, created_at, recorded_at
//   - trust             integer   its rank, see rules/trust.py
//   - initial           float     confidence before any evidence
//   - policy            map       policy that was applied; with id, occurred_at and scope of the event if it was declared
//   - projected         map       see fragments/project_many.cypher; null: no evidence
//   - other_candidates  list      maps of the other candidates affirmed since: belief_id, object, events; most events first
//   - alias_beliefs     list      maps of equal beliefs under aliases: belief_id, statement, events
//   - verdict           map       status, log_ratio, confidence, evidence
//   - total             integer   total number of evidence events
//   - lines             list      maps, oldest first: id, at, polarity, episode, strength, llr, c, l, s, echo_of, event, weight, turn_id, memory_id, words (of the turn or memory), after
//   - retracted         list      maps of retracted evidence, oldest first: id, at, polarity, confidence, source_type, retraction_id, retracted_at, payload
//   - links             list      maps of SUPERSEDES edges: newer, belief_id, statement, event_id, occurred_at, recorded_at, payload
//   - memories          list      maps, oldest first: memory_id, content
//   - derived_from      list      maps of the beliefs that it generalises: belief_id, statement, depth
//   - one               map       rank in a ONE slot: see fragments/project_one.cypher; place, of, ambiguous, leader_id, refutations; null otherwise
//   - now               datetime  server clock

MATCH (m:Belief {tenant: $tenant, id: $id})
WHERE m.scope IN $scopes
// include: fragments/belief_created_as_of.cypher
CALL (m) {
  WITH m AS node
  // include: fragments/status_as_of.cypher
  RETURN status
}
WITH m {.id, .scope, .statement, .subject, .predicate, .object, .recorded_at, depth: coalesce(m.depth, 0), status: status, created_at: created_at} AS card,
     m AS asked, m AS b, $valid AS valid, coalesce(m.predicate_key, '') AS predicate_key, m.scope AS scope
// include: fragments/prior.cypher
// include: fragments/policy.cypher
CALL (asked, valid, policy) {
  MATCH (asked)<-[:SUPPORTS|REFUTES]-(e:Event)
  // include: fragments/not_retracted.cypher
  // include: fragments/noisy_or_term.cypher
  // include: fragments/overwrite_strength.cypher
  CALL (e) {
    // include: fragments/sprt_llr.cypher
    RETURN heard
  }
  // include: fragments/mark_echoes.cypher
  RETURN pieces
}
// include: fragments/evidence_page.cypher
CALL (asked, pieces, policy) {
  UNWIND pieces AS piece
  WITH asked AS b, piece.event AS e, piece.l AS l, false AS covered
  // include: fragments/to_many_row.cypher
  // include: fragments/project_many.cypher
  RETURN collect(projected)[0] AS projected
}
CALL (pieces, initial, shown) {
  UNWIND pieces AS heard
  // include: fragments/sequential.cypher
  RETURN verdict, steps
}
LET subject_key = asked.subject_key, mine = [asked]
// include: fragments/subject_names.cypher
// include: fragments/slot.cypher
// include: fragments/slot_rank.cypher
LET last_id = one.last_id, evidence = [x IN pieces | x.event]
// include: fragments/belief_trust.cypher
// include: fragments/retracted_evidence.cypher
// include: fragments/trail_page.cypher
// include: fragments/neighbors.cypher
// include: fragments/derived_from.cypher
RETURN card, trust, initial, policy, projected, other_candidates, alias_beliefs, verdict, size(pieces) AS total, lines, retracted, links, memories, derived_from,
       one {.*, refutations: size([x IN pieces WHERE x.polarity = -1 AND x.at >= one.last_at])} AS one, datetime.realtime('Z') AS now
