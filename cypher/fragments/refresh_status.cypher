// Recompute what is cached of the lineage of `m`, a memory or a belief, from its events: its status, and which SUPERSEDES edges onto it are in
// force. The newest of what hides it and what brings it back decides the status; an edge is in force while nothing
// newer brought the memory back. At one instant a correction outranks a statement, then the larger event id wins, so
// the order of arrival does not matter; and since superseding brings the newer one back, edges in force form no cycle. Twin: oracles/lineage.py

CALL (m) {
  CALL (m) {
    // One row is enough of what may be a hundred thousand. What is said in a private scope leaves a shared one alone.
    MATCH (m)<-[:REINFORCES|CONCERNS]-(e:Event)
    WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'BELIEVE'] AND e.scope = m.scope
    RETURN e.occurred_at AS at, 0 AS rank, e.id AS event_id, 'current' AS status
    ORDER BY at DESC, event_id DESC
    LIMIT 1
  UNION ALL
    MATCH (m)<-[:CONCERNS]-(e:Event)
    WHERE e.type IN ['DEPRECATE', 'ARCHIVE', 'RESTORE']
    RETURN e.occurred_at AS at, 1 AS rank, e.id AS event_id,
           CASE e.type WHEN 'DEPRECATE' THEN 'deprecated' WHEN 'ARCHIVE' THEN 'archived' ELSE 'current' END AS status
  UNION ALL
    MATCH (m)<-[s:SUPERSEDES]-()
    RETURN s.occurred_at AS at, 1 AS rank, s.event_id AS event_id, 'superseded' AS status
  UNION ALL
    MATCH (m)-[s:SUPERSEDES]->()
    RETURN s.occurred_at AS at, 1 AS rank, s.event_id AS event_id, 'current' AS status
  }
  WITH at, rank, event_id, status
  ORDER BY at DESC, rank DESC, event_id DESC
  WITH collect({at: at, rank: rank, event_id: event_id, status: status}) AS effects
  WITH effects, head([x IN effects WHERE x.status = 'current']) AS back
  // A belief that nobody stated, but evidence speaks of, has no effect yet.
  SET m.status = coalesce(effects[0].status, 'current')
  WITH back
  MATCH (m)<-[s:SUPERSEDES]-()
  SET s.in_force = back IS NULL OR s.occurred_at > back.at
    OR (s.occurred_at = back.at AND (back.rank = 0 OR s.event_id > back.event_id))
}
