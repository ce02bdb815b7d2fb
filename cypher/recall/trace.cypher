// Compute the TraceRank of a memory, event by event. Returns the contribution of each event, its decay and the sum.
// mode: read
// rows: one
// source: Vestig M3, TraceRank; twin oracles/tracerank.py
// plan: NodeUniqueIndexSeek
// params:
//   $scopes  list      read scopes
//   $id      string    memory id
//   $at      datetime  time of the trace, upper bound of valid time
//   $known   datetime  upper bound of known time; null: no bound
//   $trace   map       TraceRank: see model/recall.py
//   $limit   integer   maximum number of newest events
// columns:
//   - trace          float    sum of recency * burst * spacing * weight over the events, >= 0
//   - total          integer  total number of events
//   - contributions  list     maps, oldest first: event_id, at, burst, spacing, weight, recency

MATCH (m:Memory {tenant: $tenant, id: $id})
WHERE m.scope IN $scopes
CALL (m) {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR'] AND e.scope IN $scopes AND e.occurred_at <= $at AND ($known IS NULL OR e.recorded_at <= $known)
  WITH e
  ORDER BY e.occurred_at, e.id
  RETURN collect(e.id) AS ids, collect([e.occurred_at, e.type = 'IMPORT']) AS times
}
WITH ids, times, $at AS valid, {trace: 0.0, contributions: []} AS state
// include: fragments/trace_fold.cypher
// include: fragments/trace_decayed.cypher
RETURN trace, size(ids) AS total, [i IN range(0, size(ids) - 1)[-$limit..] | {
  event_id: ids[i], at: times[i][0], burst: traced.contributions[i].burst, spacing: traced.contributions[i].spacing,
  weight: traced.contributions[i].weight, recency: exp(
    -((valid.epochSeconds - times[i][0].epochSeconds) * 1000000 + valid.microsecond - times[i][0].microsecond) / 8.64e10
    / $trace.tau_days
  )
}] AS contributions
