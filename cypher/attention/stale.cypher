// Current memories that nobody has said since an instant, as far as the reader can see, longest ago first; a page.
// mode: read
// rows: many
// source: Vestig M3, TraceRank
// plan: NodeIndexSeek
// params:
//   $tenant    string    whose
//   $scopes    list      scopes the reader can see
//   $until     datetime  last said before
//   $after_at  datetime  the last page ended at this instant; the earliest there is for the first page
//   $after_id  string    and this id; '' for the first page
//   $limit     integer   rows of a page
//   $valid     datetime  instant of the trace
//   $known     datetime  what was recorded later does not count in a trace; null: everything
//   $trace     map       tau_days and spacing of TraceRank; kept: whether cached traces are by these
// columns:
//   - card   map    see fragments/memory_card.cypher
//   - trace  float  >= 0

CALL () {
  UNWIND $scopes AS scope
  CALL (scope) {
    // What only its own scope speaks of was last said at trace_at.
    MATCH (m:Memory)
    USING INDEX SEEK m:Memory(tenant, scope, status, trace_at)
    WHERE m.tenant = $tenant AND m.scope = scope AND m.status = 'current' AND m.trace_at >= $after_at AND m.trace_at < $until
      AND m.trace_foreign IS NULL AND (m.trace_at > $after_at OR m.id > $after_id)
    WITH m
    // In the order of the whole index, so that no more of it is read than the page needs.
    ORDER BY m.tenant, m.scope, m.status, m.trace_at, m.id
    LIMIT $limit
    RETURN collect(m) AS own
  }
  CALL (scope, own) {
    UNWIND own AS m
    RETURN m, m.trace_at AS last_at
  UNION ALL
    // What another scope speaks of, too, was last said then or later: beyond a full page it cannot come before its end.
    WITH CASE size(own) WHEN $limit THEN own[-1].trace_at ELSE $until END AS end
    MATCH (m:Memory)
    USING INDEX SEEK m:Memory(tenant, scope, status, trace_at)
    WHERE m.tenant = $tenant AND m.scope = scope AND m.status = 'current' AND m.trace_at <= end AND m.trace_foreign
    CALL (m) {
      MATCH (m)<-[:REINFORCES]-(e:Event)
      WHERE e.scope IN $scopes
      RETURN max(e.occurred_at) AS last_at
    }
    FILTER last_at < $until AND (last_at > $after_at OR (last_at = $after_at AND m.id > $after_id))
    RETURN m, last_at
    ORDER BY last_at, m.id
    LIMIT $limit
  }
  RETURN m, last_at
  ORDER BY last_at, m.id
  LIMIT $limit
}
// include: fragments/heads.cypher
// include: fragments/memory_card.cypher
WITH m, card, $valid AS valid
// include: fragments/trace_told.cypher
// include: fragments/trace_fold.cypher
// include: fragments/trace_faded.cypher
RETURN card, trace
ORDER BY card.last_seen_at, card.id
