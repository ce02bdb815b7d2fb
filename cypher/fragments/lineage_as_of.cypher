// What follows for `m`, a memory or a belief, from what is seen at ($valid, $known): its status, where its chain ends, and the
// SUPERSEDES edges onto it. Needs `m`; leaves `status`, `head_ids` (none unless it is superseded) and `links`, maps. The
// rule is that of fragments/refresh_status.cypher, from the events seen. Twin: rules/lineage.py

CALL (m) {
  MATCH (m)<-[path:SUPERSEDES*0..]-(x)
  WHERE all(s IN path WHERE s.occurred_at <= $valid AND ($known IS NULL OR s.recorded_at <= $known))
  // DISTINCT lets the server walk each node once, however many ways lead to it.
  WITH DISTINCT m, x
  CALL (x) {
    CALL (x) {
      MATCH (x)<-[:REINFORCES|CONCERNS]-(e:Event)
      WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'BELIEVE'] AND e.scope = x.scope
        AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
      RETURN e.occurred_at AS at, 0 AS rank, e.id AS event_id, 'current' AS status, null AS recorded_at, null AS newer_id
      ORDER BY at DESC, event_id DESC
      LIMIT 1
    UNION ALL
      MATCH (x)<-[:CONCERNS]-(e:Event)
      WHERE e.type IN ['DEPRECATE', 'ARCHIVE', 'RESTORE'] AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
      RETURN e.occurred_at AS at, 1 AS rank, e.id AS event_id,
             CASE e.type WHEN 'DEPRECATE' THEN 'deprecated' WHEN 'ARCHIVE' THEN 'archived' ELSE 'current' END AS status,
             null AS recorded_at, null AS newer_id
    UNION ALL
      MATCH (x)<-[s:SUPERSEDES]-(newer)
      WHERE s.occurred_at <= $valid AND ($known IS NULL OR s.recorded_at <= $known)
      RETURN s.occurred_at AS at, 1 AS rank, s.event_id AS event_id, 'superseded' AS status,
             s.recorded_at AS recorded_at, newer.id AS newer_id
    UNION ALL
      MATCH (x)-[s:SUPERSEDES]->()
      WHERE s.occurred_at <= $valid AND ($known IS NULL OR s.recorded_at <= $known)
      RETURN s.occurred_at AS at, 1 AS rank, s.event_id AS event_id, 'current' AS status,
             null AS recorded_at, null AS newer_id
    }
    WITH *
    ORDER BY at DESC, rank DESC, event_id DESC
    WITH collect({occurred_at: at, event_id: event_id, status: status, recorded_at: recorded_at, newer_id: newer_id}) AS effects
    LET back = coll.indexOf([effect IN effects | effect.status] + 'current', 'current')
    RETURN coalesce(effects[0].status, 'current') AS status,
           [effect IN effects[..back] WHERE effect.status = 'superseded' |
             effect {.newer_id, .event_id, .occurred_at, .recorded_at, in_force: true}]
           + [effect IN effects[back..] WHERE effect.status = 'superseded' |
             effect {.newer_id, .event_id, .occurred_at, .recorded_at, in_force: false}] AS links
  }
  RETURN head(collect(CASE x WHEN m THEN status END)) AS status,
         head(collect(CASE x WHEN m THEN links END)) AS links,
         coll.sort(coll.flatten(collect(
           [link IN links WHERE link.in_force | [link.occurred_at, link.event_id, x.id, link.newer_id]]))) AS in_force
}
// Superseding brings the newer one back, so edges in force that follow one another were made in this order.
LET reached = reduce(ids = [m.id], link IN in_force | CASE WHEN link[2] IN ids THEN ids + link[3] ELSE ids END),
    replaced = [link IN in_force | link[2]]
LET head_ids = CASE status
  WHEN 'superseded' THEN coll.sort(coll.distinct([id IN reached WHERE NOT id IN replaced]))
  ELSE []
END
