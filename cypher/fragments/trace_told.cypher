// Where to begin with the trace of `m` at `valid`, of its events in $scopes as far as $known. Needs `m` and `valid`, $trace; leaves `state`
// and `times`, as fragments/trace_fold.cypher takes them. What is kept with a memory is the state after the last event of its own
// scope: it holds when no other scope speaks of it and nothing of it is still to come.

LET kept = $known IS NULL AND $trace.kept AND m.trace_foreign IS NULL AND coalesce(m.trace_at <= valid, false)
LET state = CASE WHEN kept THEN {trace: m.trace, at: m.trace_at} ELSE {trace: 0.0} END, times = CASE WHEN kept THEN [] ELSE COLLECT {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.scope IN $scopes AND e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known)
  RETURN e.occurred_at
  ORDER BY e.occurred_at, e.id
} END
