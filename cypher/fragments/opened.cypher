// What was looked at in a session, and by which of its searches it was found. Needs `start` and `ended`, when its end was recorded;
// leaves `looks`, maps of kind, id, at and search (an event id, null when none had returned it).

CALL (start, ended) {
  MATCH (start)<-[:WITHIN]-(look:Event {type: 'ACCESS'})-[:ACCESSED]->(n)
  // What comes after the end counts neither now nor when all is rated again.
  WHERE NOT n:Turn AND look.recorded_at <= ended
  OPTIONAL CALL (start, look, n) {
    MATCH (start)<-[:WITHIN]-(s:Event {type: 'SEARCH'})-[:RETURNED]->(n)
    WHERE s.occurred_at <= look.occurred_at
    RETURN s.id AS search
    ORDER BY s.occurred_at DESC, s.id DESC
    LIMIT 1
  }
  RETURN collect({kind: labels(n)[0], id: n.id, at: look.occurred_at, search: search}) AS looks
}
