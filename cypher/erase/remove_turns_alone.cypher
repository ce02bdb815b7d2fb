// Erase turns of episodes that stay, with the replies that rest on them or on their episodes. Links the neighbours of
// each, and keeps its position and a digest, by which `episode/find_existing` recognises the same message. Removes what
// was summarised from the turns. The next consolidation reads the rest of their scope again.
// mode: write
// rows: none
// plan: NodeUniqueIndexSeek
// params:
//   $turns  list  maps: id, and digest of the id
// columns:

UNWIND $turns AS turn
MATCH (t:Turn {tenant: $tenant, id: turn.id})-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
// Writing before reading takes the write lock, so no turn is added meanwhile.
SET p.locked_at = datetime.realtime('Z'),
    p.erased_turns = coalesce(p.erased_turns, []) + [toString(t.position) + ' ' + turn.digest]
WITH t, p
CALL (t) {
  MATCH (t)-[:OCCURRED_IN]->{0,1}({tenant: $tenant})<-[:RESTS_ON]-(r:Reply {tenant: $tenant})
  DETACH DELETE r
}
CALL (t) {
  MATCH (before:Turn {tenant: $tenant})-[:NEXT]->(t)-[:NEXT]->(after:Turn {tenant: $tenant})
  CREATE (before)-[:NEXT]->(after)
}
CALL (t, p) {
  MATCH (p)<-[:OCCURRED_IN]-(x:Turn {tenant: $tenant})
  WHERE x <> t
  WITH p, min(x.occurred_at) AS earliest
  SET p.occurred_at = earliest
}
CALL (p) {
  MATCH (u:JobUnit)
  WHERE u.tenant = $tenant AND u.id > '' AND u.scope = p.scope AND u.unit IN [p.id, p.session_id]
  DELETE u
}
CALL (p) {
  MATCH (c:Consolidation {tenant: $tenant, scope: p.scope})
  SET c.cursor = null
}
// include: fragments/stated_fields.cypher
SET p.stated = stated, p.summarised_turns = null, p.summarised_by = null
SET p.entities = CASE WHEN 'entities' IN stated THEN p.entities ELSE [] END,
    p.importance = CASE WHEN 'importance' IN stated THEN p.importance ELSE 0.5 END
CALL (p, stated) {
  FILTER NOT 'summary' IN stated
  SET p.summary = null
  WITH p
  FILTER p.content IS NULL
  REMOVE p.embedding, p.token_states
}
DETACH DELETE t
