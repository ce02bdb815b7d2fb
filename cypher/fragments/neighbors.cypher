// Collect the neighbours of `b` at (`valid`, $known): the beliefs that it supersedes or is superseded by, and the
// memories that claim it. Needs `b` and `valid`, $scopes and $limit; leaves `links` and `memories`, lists of maps in
// order of time.
// needs: b, valid
// leaves: links, memories

CALL (b, valid) {
  MATCH (b)-[s:SUPERSEDES]-(other:Belief)
  WHERE other.tenant = $tenant AND other.scope IN $scopes
    AND s.occurred_at <= valid AND ($known IS NULL OR s.recorded_at <= $known)
  MATCH (e:Event {tenant: $tenant, id: s.event_id})
  WITH b, s, other, e
  ORDER BY s.occurred_at, s.event_id, other.id
  RETURN collect(s {
    .event_id, .occurred_at, .recorded_at, newer: startNode(s) = b,
    belief_id: other.id, statement: other.statement, payload: e.payload
  }) AS links
}
CALL (b, valid) {
  MATCH (b)<-[:CLAIMS]-(m:Memory)
  WHERE m.tenant = $tenant AND m.scope IN $scopes AND EXISTS {
    MATCH (m)<-[:REINFORCES]-(e:Event)-[:SUPPORTS]->(b)
    WHERE e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known)
  }
  WITH m
  ORDER BY m.created_at, m.id
  LIMIT $limit
  RETURN collect({memory_id: m.id, content: m.content}) AS memories
}
