// Recompute the cached lineage of `m`, a memory or a belief, from its events: its status, and which of its incoming
// SUPERSEDES edges are in force. The newest event that hides or restores it decides the status, unless it is rejected for
// every reader. An edge is in force while no newer event restored the node. At the same time a correction outranks a statement, then the larger event id
// wins, so the order of arrival does not matter. Superseding restores the newer node, so edges in force form no cycle.
// needs: m
// twin: oracles/lineage.py

CALL (m) {
  CALL (m) {
    // One row suffices out of up to a hundred thousand. Statements in a private scope do not affect a shared node.
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
  // include: fragments/rejected_anywhere.cypher
  // A belief with evidence but without a statement has no effect yet.
  SET m.rejected = CASE WHEN rejected_here THEN true END,
      m.status = CASE WHEN rejected_for_all THEN 'rejected' ELSE coalesce(effects[0].status, 'current') END
  WITH back
  MATCH (m)<-[s:SUPERSEDES]-()
  SET s.in_force = back IS NULL OR s.occurred_at > back.at
    OR (s.occurred_at = back.at AND (back.rank = 0 OR s.event_id > back.event_id))
}
