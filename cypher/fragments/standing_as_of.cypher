// Compute the lineage of `node`, a memory or a belief, as of ($valid, $known), without walking its chain. Needs `node`;
// leaves `status`, `links`, maps of its incoming SUPERSEDES edges, and `edges`, those that are in force. Applies the
// rule of fragments/refresh_status.cypher to the visible events. Twin: oracles/lineage.py

CALL (node) {
  CALL (node) {
    MATCH (node)<-[:REINFORCES|CONCERNS]-(e:Event)
    WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'BELIEVE'] AND e.tenant = $tenant AND e.scope = node.scope
      AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
    RETURN e.occurred_at AS at, 0 AS rank, e.id AS event_id, 'current' AS status, null AS recorded_at, null AS newer_id, null AS edge
    ORDER BY at DESC, event_id DESC
    LIMIT 1
  UNION ALL
    MATCH (node)<-[:CONCERNS]-(e:Event)
    WHERE e.type IN ['DEPRECATE', 'ARCHIVE', 'RESTORE'] AND e.tenant = $tenant
      AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
    RETURN e.occurred_at AS at, 1 AS rank, e.id AS event_id,
           CASE e.type WHEN 'DEPRECATE' THEN 'deprecated' WHEN 'ARCHIVE' THEN 'archived' ELSE 'current' END AS status,
           null AS recorded_at, null AS newer_id, null AS edge
  UNION ALL
    MATCH (node)<-[s:SUPERSEDES]-(newer)
    WHERE newer.tenant = $tenant AND s.occurred_at <= $valid AND ($known IS NULL OR s.recorded_at <= $known)
    RETURN s.occurred_at AS at, 1 AS rank, s.event_id AS event_id, 'superseded' AS status,
           s.recorded_at AS recorded_at, newer.id AS newer_id, s AS edge
  UNION ALL
    MATCH (node)-[s:SUPERSEDES]->(older)
    WHERE older.tenant = $tenant AND s.occurred_at <= $valid AND ($known IS NULL OR s.recorded_at <= $known)
    RETURN s.occurred_at AS at, 1 AS rank, s.event_id AS event_id, 'current' AS status,
           null AS recorded_at, null AS newer_id, null AS edge
  }
  WITH *
  ORDER BY at DESC, rank DESC, event_id DESC
  WITH collect({occurred_at: at, event_id: event_id, status: status, recorded_at: recorded_at, newer_id: newer_id, edge: edge}) AS effects
  LET back = coll.indexOf([effect IN effects | effect.status] + 'current', 'current')
  RETURN coalesce(effects[0].status, 'current') AS status,
         [effect IN effects[..back] WHERE effect.status = 'superseded' |
           effect {.newer_id, .event_id, .occurred_at, .recorded_at, in_force: true}]
         + [effect IN effects[back..] WHERE effect.status = 'superseded' |
           effect {.newer_id, .event_id, .occurred_at, .recorded_at, in_force: false}] AS links,
         [effect IN effects[..back] WHERE effect.status = 'superseded' | effect.edge] AS edges
}
