// Collect the newest events that state `m` at (`valid`, $known), in $scopes, and count those of the highest trust class. The
// newest of that class is among the three, whatever was recorded since.
// needs: m, valid
// leaves: reasons (maps, newest first), stated

CALL (m, valid) {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR'] AND e.scope IN $scopes AND e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known)
  WITH e
  ORDER BY e.occurred_at DESC, e.id DESC
  WITH collect(e) AS events
  // include: fragments/best_reasons.cypher
  RETURN size(vouching) AS stated, [e IN best | e {
    event_id: e.id, .type, at: toString(e.occurred_at), .source, .actor, .episode_id, trust: coalesce(e.trust, 0),
    quoted: [(e)-[:QUOTES]->(t:Turn {tenant: $tenant}) | {id: t.id, speaker: coalesce(t.name, t.role), time_zone: t.time_zone}][0]
  }] AS reasons
}
