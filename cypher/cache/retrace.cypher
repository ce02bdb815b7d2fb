// Update the cached trace of memories. Continues from the cached state, or reads all events if one of them is late.
// mode: write
// rows: none
// source: Vestig M3, TraceRank; twin oracles/tracerank.py
// plan: NodeUniqueIndexSeek
// params:
//   $trace     map   tau_days and spacing of the cached traces
//   $memories  list  maps: id, event_ids (of the events just written; null: read all events)
// columns:

UNWIND $memories AS row
MATCH (m:Memory {tenant: $tenant, id: row.id})
CALL (m, row) {
  UNWIND row.event_ids AS id
  MATCH (e:Event {tenant: $tenant, id: id})
  WITH e
  ORDER BY e.occurred_at, e.id
  RETURN collect(e) AS news
}
LET own = [e IN news WHERE e.scope = m.scope | [e.occurred_at, e.type = 'IMPORT']]
LET resumes = row.event_ids IS NOT NULL AND m.trace_at IS NOT NULL AND none(x IN own WHERE x[0] < m.trace_at)
CALL (m, own, resumes) {
  FILTER resumes
  RETURN {trace: m.trace, at: m.trace_at, full_at: m.trace_full_at, burst: m.trace_burst} AS state, own AS times
UNION ALL
  FILTER NOT resumes
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR'] AND e.scope = m.scope
  WITH e
  ORDER BY e.occurred_at, e.id
  RETURN {trace: 0.0} AS state, collect([e.occurred_at, e.type = 'IMPORT']) AS times
}
// include: fragments/trace_fold.cypher
SET m.trace = traced.trace, m.trace_at = traced.at, m.trace_full_at = traced.full_at, m.trace_burst = traced.burst,
    m.trace_foreign = CASE
      WHEN resumes AND size(own) = size(news) THEN m.trace_foreign
      WHEN EXISTS { MATCH (m)<-[:REINFORCES]-(e:Event) WHERE e.scope <> m.scope } THEN true
    END
