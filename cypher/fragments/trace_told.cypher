// Where to begin with the trace of `m` at `valid`, of its events in $scopes as far as $known. Needs `m` and `valid`, $trace; leaves `state`
// and `times`, as fragments/trace_fold.cypher takes them. What is kept with a memory is the state after the last event of its own
// scope: it holds when no other scope speaks of it and nothing of it is still to come.

LET kept = $known IS NULL AND $trace.kept AND m.trace_foreign IS NULL AND coalesce(m.trace_at <= valid, false)
CALL (m, valid, kept) {
  FILTER kept
  RETURN {trace: m.trace, at: m.trace_at} AS state, [] AS times
UNION ALL
  FILTER NOT kept
  OPTIONAL MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.scope IN $scopes AND e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known)
  WITH e
  ORDER BY e.occurred_at, e.id
  RETURN {trace: 0.0} AS state, collect(e.occurred_at) AS times
}
