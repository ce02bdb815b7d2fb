// Return the outgoing SUPERSEDES edges of a page of memories or beliefs, with the events that determine them.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $label  string  Memory or Belief
//   $types  list    types of events by which one supersedes another
//   $after  string  id of the last node of the previous page; '' for the first page
// columns:
//   - looked  integer  number of nodes read; 0 after the last page
//   - after   string   id of the last node of the page
//   - chains  list     maps of those with such an edge or event: id, edges (maps: older, event_id, occurred_at, recorded_at), and events (maps: event_id, payload, occurred_at, recorded_at, and about, the ids of the nodes that it concerns)

CALL () {
  MATCH (n:Memory) WHERE n.tenant = $tenant AND n.id > CASE $label WHEN 'Memory' THEN $after END
  RETURN n ORDER BY n.tenant, n.id LIMIT $limit
UNION ALL
  MATCH (n:Belief) WHERE n.tenant = $tenant AND n.id > CASE $label WHEN 'Belief' THEN $after END
  RETURN n ORDER BY n.tenant, n.id LIMIT $limit
}
LET edges = COLLECT {
  MATCH (n)-[s:SUPERSEDES]->(older)
  RETURN {older: older.id, event_id: s.event_id, occurred_at: s.occurred_at, recorded_at: s.recorded_at}
}
LET events = COLLECT {
  MATCH (n)<-[:CONCERNS]-(e:Event {tenant: $tenant})
  WHERE e.type IN $types
  RETURN {
    event_id: e.id, payload: e.payload, occurred_at: e.occurred_at, recorded_at: e.recorded_at,
    about: COLLECT { MATCH (e)-[:CONCERNS]->(x {tenant: $tenant}) RETURN x.id }
  }
}
RETURN count(n) AS looked,
       max(n.id) AS after,
       collect(CASE WHEN size(edges) > 0 OR size(events) > 0 THEN {id: n.id, edges: edges, events: events} END) AS chains
