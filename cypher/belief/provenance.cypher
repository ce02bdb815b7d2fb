// Return the provenance of a belief as of (valid, known). Includes statements and evidence events, quoted turns, their
// episodes, memories that claim the belief, and supersessions.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $id     string    belief id
//   $limit  integer   maximum number of newest events, and of memories
//   $valid  datetime  upper bound of valid time
//   $known  datetime  upper bound of known time
// columns:
//   - card      map       see fragments/belief_card.cypher; null: the belief did not exist
//   - total     integer   total number of events, returned or not
//   - events    list      maps, oldest first, see fragments/belief_event.cypher
//   - turns     list      maps of the turns quoted by the returned events, in conversation order
//   - episodes  list      maps of the episodes of the returned events, oldest first: id, session_id, summary, occurred_at
//   - memories  list      see fragments/memory_card_as_of.cypher
//   - derived_from  list  maps of the beliefs that it generalises: belief_id, statement, depth
//   - links     list      maps of the incoming and outgoing SUPERSEDES edges: newer_id, older_id, event_id, occurred_at, recorded_at, in_force
//   - now       datetime  server clock

OPTIONAL CALL () {
  MATCH (m:Belief {tenant: $tenant, id: $id})
  WHERE m.scope IN $scopes
  // include: fragments/belief_created_as_of.cypher
  // include: fragments/lineage_as_of.cypher
  // include: fragments/links_as_of.cypher
  // include: fragments/belief_card.cypher
  RETURN m AS b, card, [link IN links | link {.*, older_id: m.id}] AS onto, $valid AS valid
}
CALL (b, valid) {
  MATCH (b)<-[edge:SUPPORTS|REFUTES|CONCERNS]-(e:Event)
  WHERE type(edge) <> 'CONCERNS' OR e.type = 'BELIEVE'
  // include: fragments/not_retracted.cypher
  WITH e, type(edge) <> 'CONCERNS' AS speaks, true AS counts
  ORDER BY e.occurred_at, e.recorded_at, e.id
  WITH collect([e, speaks, counts]) AS found
  UNWIND found[-$limit..] AS x
  WITH size(found) AS n, x[0] AS e, x[1] AS speaks, x[2] AS counts
  // include: fragments/belief_event.cypher
  RETURN max(n) AS total, collect(line) AS events, collect(e) AS found
}
CALL (found) {
  UNWIND found AS e
  MATCH (e)-[:QUOTES]->(t:Turn {tenant: $tenant})
  WITH DISTINCT t
  ORDER BY t.occurred_at, t.episode_id, t.position
  RETURN collect(t {.id, .episode_id, .position, .role, .name, .text, .occurred_at, .time_zone, .recorded_at}) AS turns
}
CALL (found) {
  UNWIND found AS e
  MATCH (e)-[:OCCURRED_IN]->(x:Episode {tenant: $tenant})
  WITH DISTINCT x
  ORDER BY x.occurred_at, x.id
  RETURN collect(x {.id, .session_id, .summary, .occurred_at}) AS episodes
}
CALL (b, valid) {
  MATCH (b)<-[:CLAIMS]-(m:Memory)
  WHERE m.scope IN $scopes AND EXISTS {
    MATCH (m)<-[:REINFORCES]-(x:Event)-[:SUPPORTS]->(b)
    WHERE x.occurred_at <= valid AND x.recorded_at <= $known
  }
  WITH m
  ORDER BY m.id
  LIMIT $limit
  // include: fragments/memory_dates_as_of.cypher
  // include: fragments/lineage_as_of.cypher
  // include: fragments/memory_card_as_of.cypher
  RETURN collect(card) AS memories
}
CALL (b) {
  MATCH (b)-[s:SUPERSEDES]->(m:Belief)
  WHERE s.occurred_at <= $valid AND s.recorded_at <= $known
  WITH DISTINCT b, m
  CALL (m) {
    WITH m AS node
    // include: fragments/status_as_of.cypher
    // include: fragments/links_as_of.cypher
    RETURN links
  }
  UNWIND [link IN links WHERE link.newer_id = b.id] AS link
  RETURN collect(link {.*, older_id: m.id}) AS from_it
}
// include: fragments/derived_from.cypher
RETURN card, coalesce(total, 0) AS total, events, turns, episodes, memories, derived_from, onto + from_it AS links, datetime.realtime('Z') AS now
