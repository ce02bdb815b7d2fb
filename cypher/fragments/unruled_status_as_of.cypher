// Compute the lineage of `node`, a memory or a belief, as of ($valid, $known), without walking its chain and without
// the rulings about it. Applies the rule of fragments/refresh_status.cypher to the visible events.
// needs: node
// leaves: unruled (its status), superseding (maps of its incoming SUPERSEDES edges: edge, in_force)
// twin: oracles/lineage.py

CALL (node) {
  CALL (node) {
    // One statement suffices out of up to a hundred thousand.
    MATCH (node)<-[:REINFORCES|CONCERNS]-(e:Event)
    WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'BELIEVE'] AND e.tenant = $tenant AND e.scope = node.scope
      AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
    RETURN e.occurred_at AS at, 0 AS rank, e.id AS event_id, 'current' AS status, null AS edge
    ORDER BY at DESC, event_id DESC
    LIMIT 1
  UNION ALL
    MATCH (node)-[s:CONCERNS|SUPERSEDES]-(x)
    WHERE x.tenant = $tenant AND coalesce(s.occurred_at, x.occurred_at) <= $valid
      AND ($known IS NULL OR coalesce(s.recorded_at, x.recorded_at) <= $known)
    RETURN coalesce(s.occurred_at, x.occurred_at) AS at, 1 AS rank, coalesce(s.event_id, x.id) AS event_id, CASE
      WHEN s:CONCERNS THEN {DEPRECATE: 'deprecated', ARCHIVE: 'archived', RESTORE: 'current'}[x.type]
      WHEN startNode(s) = node THEN 'current'
      ELSE 'superseded'
    END AS status, s AS edge
  }
  FILTER status IS NOT NULL
  WITH at, rank, event_id, status, edge
  ORDER BY at DESC, rank DESC, event_id DESC
  WITH collect({status: status, edge: edge}) AS effects
  LET back = coll.indexOf([x IN effects | x.status] + 'current', 'current')
  RETURN coalesce(effects[0].status, 'current') AS unruled,
         [i IN range(0, size(effects) - 1) WHERE effects[i].status = 'superseded' | {edge: effects[i].edge, in_force: i < back}] AS superseding
}
