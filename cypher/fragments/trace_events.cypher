// Select the start of the trace of `m` at `valid`, from its events in $scopes as of $known. A memory stores the state
// after the last event of its own scope. It applies if the memory has no events of other scopes and none after `valid`.
// needs: m (null: the trace is 0), valid
// leaves: state, times

LET kept = m IS NULL OR ($known IS NULL AND $trace.kept AND m.trace_foreign IS NULL AND coalesce(m.trace_at <= valid, false))
LET state = CASE WHEN kept THEN {trace: m.trace, at: m.trace_at} ELSE {trace: 0.0} END, times = CASE WHEN kept THEN [] ELSE COLLECT {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR'] AND e.scope IN $scopes AND e.occurred_at <= valid AND ($known IS NULL OR e.recorded_at <= $known)
  RETURN [e.occurred_at, e.type = 'IMPORT']
  ORDER BY e.occurred_at, e.id
} END
