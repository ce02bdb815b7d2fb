// Collect the newest events that state `m` at (`valid`, $known), in $scopes. Needs `m` and `valid`; leaves `reasons`,
// maps, newest first.
// needs: m, valid
// leaves: reasons

CALL (m, valid) {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.scope IN $scopes AND e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known)
  WITH e
  ORDER BY e.occurred_at DESC, e.id DESC
  LIMIT 3
  RETURN collect(e {
    event_id: e.id, .type, at: toString(e.occurred_at), .source, .actor, .episode_id,
    quoted: [(e)-[:QUOTES]->(t:Turn) | {id: t.id, speaker: coalesce(t.name, t.role)}][0]
  }) AS reasons
}
