// Compare the cached status and trace of memories, and the state of their incoming edges, with their events. Paged by
// id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $valid  datetime  a time later than every event
//   $known  datetime  upper bound of known time; null: no bound
//   $trace  map       tau_days and spacing of the cached traces
//   $after  string    id of the last row of the previous page; '' for the first page
//   $limit  integer   maximum number of memories per page
// columns:
//   - id      string   memory id
//   - cached  string   cached status, the number of incoming edges with a wrong cached state, and the trace if it is wrong
//   - found   string   status, and the trace if it is wrong, computed from the events
//   - wrong   boolean  whether the two differ
//   - has_events    boolean  whether it has an event of its own scope; without one nothing can be checked

MATCH (m:Memory)
WHERE m.tenant = $tenant AND m.id > $after
WITH m
ORDER BY m.tenant, m.id
LIMIT $limit
CALL (m) {
  WITH m AS node
  // include: fragments/unruled_status_as_of.cypher
  RETURN unruled, superseding
}
// include: fragments/compare_lineage.cypher
CALL (m) {
  OPTIONAL MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR']
  WITH m, e
  ORDER BY e.occurred_at, e.id
  RETURN {trace: 0.0} AS state, collect(CASE e.scope WHEN m.scope THEN [e.occurred_at, e.type = 'IMPORT'] END) AS times,
         max(CASE WHEN e.scope <> m.scope THEN true END) AS foreign
}
// include: fragments/trace_fold.cypher
LET traces = coalesce(
  abs(toFloatOrNull(m.trace) - traced.trace) <= 1e-9 AND m.trace_at = traced.at AND m.trace_full_at = traced.full_at
    AND m.trace_burst = traced.burst AND coalesce(m.trace_foreign, false) = coalesce(foreign, false),
  false
)
RETURN m.id AS id, cached + CASE WHEN traces THEN '' ELSE ', trace ' + coalesce(toStringOrNull(m.trace), 'unknown') END AS cached,
       found + CASE WHEN traces THEN '' ELSE ', trace ' + toString(traced.trace) END AS found, wrong OR NOT traces AS wrong,
       traced.at IS NOT NULL AS has_events
ORDER BY id
