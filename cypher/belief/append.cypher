// Append what was observed, believed and testified, and make the beliefs that are new.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant      string  whose
//   $tenant_key  string  its full-text token
//   $events      list    in order: the event's own fields, turn_id, and claim: a map of id, slot_id, scope, scope_key, statement, subject, predicate, object, subject_key, predicate_key, embedding or null
// columns:
//   - written      integer  events appended
//   - in_episodes  integer  of them linked to their episode
//   - in_turns     integer  of them linked to the turn they quote
//   - unembedded   list     ids of beliefs that have no embedding yet

UNWIND $events AS event
WITH event, event.claim AS claim
// include: fragments/meet_belief.cypher
// include: fragments/append_event.cypher
WITH event, claim, b, e
// include: fragments/speak_of.cypher
FOREACH (x IN CASE event.type WHEN 'BELIEVE' THEN [1] ELSE [] END | CREATE (e)-[:CONCERNS]->(b))
WITH event, b, e
OPTIONAL MATCH (episode:Episode {tenant: $tenant, id: event.episode_id})
OPTIONAL MATCH (turn:Turn {tenant: $tenant, id: event.turn_id})
FOREACH (x IN CASE WHEN episode IS NULL THEN [] ELSE [episode] END | CREATE (e)-[:OCCURRED_IN]->(x))
FOREACH (x IN CASE WHEN turn IS NULL THEN [] ELSE [turn] END | CREATE (e)-[:QUOTES]->(x))
WITH b, e, episode, turn
// include: fragments/meet_retraction.cypher
RETURN count(e) AS written, count(episode) AS in_episodes, count(turn) AS in_turns,
       collect(DISTINCT CASE WHEN b.unembedded THEN b.id END) AS unembedded
