// Append observations, hypotheses and evidence, and create the beliefs that are new. Events that exist are left out. If a
// template of a predicate is not the one expected, nothing is written.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event, events.claim.id Belief
// refers_to: events.episode_id Episode, events.turn_id Turn, events.target_id Event, events.claim.subject_key Person
// params:
//   $scopes      list  read scopes of the writer, in which episodes and turns are looked up
//   $predicates  list  maps of the templates with which the claims are worded: key, template or null
//   $events      list  in order: the event properties (occurred_at as ISO text, which a driver sends much faster), turn_id, looks_after, derived_trust (rank of the evidence target_id that it is drawn from) or null, and claim: a map of depth or null, id, slot_id, scope, scope_key, statement, subject, predicate, object, subject_key, predicate_key, object_key, embedding or null
// columns:
//   - existing    list  maps of the events that exist: id, request_hash
//   - templates   list  maps of the templates that apply, if one is not as expected: key, template; else null
//   - missing     list  ids of episodes and turns that do not exist
//   - unembedded  list  ids of beliefs of these events that lack an embedding
//   - rejected    list  maps of rejected beliefs of these events: belief_id, and rejection (fragments/rejection.cypher)
//   - reworded    list  ids of beliefs of these events that were rejected for their former wording: to be refreshed
//   - long        list  maps of slots due for a checkpoint, by beliefs with at least 64 evidence events: slot_id, scope, subject_key, predicate_key

LET ids = [x IN $events | x.id]
LET existing = COLLECT {
  MATCH (x:Event {tenant: $tenant})
  WHERE x.id IN ids
  RETURN x {.id, .request_hash}
}, wordings = COLLECT {
  UNWIND $predicates AS expected
  LET predicate_key = expected.key
  // include: fragments/declaration.cypher
  RETURN {key: predicate_key, template: declared.template, is_expected: coalesce(declared.template, '') = coalesce(expected.template, '')}
}
LET existing_ids = [x IN existing | x.id], as_expected = all(x IN wordings WHERE x.is_expected)
CALL (existing_ids, as_expected) {
  UNWIND [x IN $events WHERE as_expected AND NOT x.id IN existing_ids] AS row
  LET given = row {.*, occurred_at: datetime(row.occurred_at)}
  OPTIONAL MATCH (episode:Episode {tenant: $tenant, id: given.episode_id})
  WHERE episode.scope IN $scopes
  OPTIONAL MATCH (turn:Turn {tenant: $tenant, id: given.turn_id})
  WHERE turn.scope IN $scopes
  // include: fragments/trusted_event.cypher
  LET claim = event.claim
  // include: fragments/merge_belief.cypher
  // include: fragments/append_event.cypher
  WITH event, claim, b, e, episode, turn
  // include: fragments/link_evidence.cypher
  FOREACH (x IN CASE event.type WHEN 'BELIEVE' THEN [1] ELSE [] END | CREATE (e)-[:CONCERNS]->(b))
  FOREACH (x IN CASE WHEN episode IS NULL THEN [] ELSE [episode] END | CREATE (e)-[:OCCURRED_IN]->(x))
  FOREACH (x IN CASE WHEN turn IS NULL THEN [] ELSE [turn] END | CREATE (e)-[:QUOTES]->(x))
  WITH event, b, e, episode, turn
  // include: fragments/link_earlier_retractions.cypher
  LET value_keys = CASE WHEN b.rulings IS NULL THEN [] ELSE [b.value_key, b.statement_key] END, until = null, recorded = null
  // include: fragments/rejection.cypher
  RETURN
    collect(DISTINCT CASE WHEN episode IS NULL THEN event.episode_id END)
      + collect(DISTINCT CASE WHEN turn IS NULL THEN event.turn_id END) AS missing,
    collect(DISTINCT CASE WHEN b.unembedded THEN b.id END) AS unembedded,
    collect(DISTINCT CASE WHEN rejection IS NOT NULL THEN {belief_id: b.id, rejection: rejection} END) AS rejected,
    collect(DISTINCT CASE WHEN rejection IS NULL AND b.status = 'rejected' THEN b.id END) AS reworded,
    collect(DISTINCT CASE
      WHEN event.looks_after AND COUNT { (b)<-[:SUPPORTS|REFUTES]-() } >= 64
      THEN b {.slot_id, .scope, .subject_key, .predicate_key}
    END) AS long
}
RETURN existing, CASE WHEN NOT as_expected THEN [x IN wordings WHERE x.template IS NOT NULL | x {.key, .template}] END AS templates,
       missing, unembedded, rejected, reworded, long
