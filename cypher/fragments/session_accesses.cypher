// Collect the accesses of a session, each with the search that returned the item. Needs `start` and `ended`, the time
// at which its end was recorded; leaves `looks`, maps of kind, id, at and search (an event id, null if no search
// returned the item).
// needs: start, ended
// leaves: looks

CALL (start, ended) {
  MATCH (start)<-[:WITHIN]-(look:Event {type: 'ACCESS'})-[:ACCESSED]->(n)
  // Accesses after the end do not count, neither now nor when ratings are recomputed.
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
