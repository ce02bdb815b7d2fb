// List current memories in the read scopes that were not stated since a given time. Paged, longest ago first.
// mode: read
// rows: many
// source: Vestig M3, TraceRank
// plan: NodeIndexSeek
// params:
//   $scopes    list      read scopes
//   $until     datetime  exclusive upper bound of the last statement
//   $claimed   boolean   whether to list only memories that claim a belief
//   $after_at  datetime  time of the last row of the previous page; the earliest possible time for the first page
//   $after_id  string    id of the last row of the previous page; '' for the first page
//   $limit     integer   maximum number of rows per page
//   $valid     datetime  time at which traces are computed
//   $known     datetime  events recorded later do not count in a trace; null: no bound
// columns:
//   - card   map    see fragments/memory_card.cypher
//   - trace  float  >= 0

CALL () {
  UNWIND $scopes AS scope
  CALL (scope) {
    // A memory with events of its own scope only was last stated at trace_at.
    MATCH (m:Memory)
    USING INDEX SEEK m:Memory(tenant, scope, status, trace_at)
    WHERE m.tenant = $tenant AND m.scope = scope AND m.status = 'current' AND m.trace_at >= $after_at AND m.trace_at < $until
      AND m.trace_foreign IS NULL AND (m.trace_at > $after_at OR m.id > $after_id)
      // The rule of fragments/rejected_for_reader.cypher; a LET would lose the order of the index.
      AND none(seen IN [[
        i IN range(0, coalesce(size(m.rulings), 0) - 1)
        WHERE m.ruled_scopes[i] IN $scopes + 'global' AND m.ruled_at[i] <= $valid AND ($known IS NULL OR m.ruled_known[i] <= $known)
      ]] WHERE any(i IN seen WHERE m.rulings[i] AND none(j IN seen WHERE
        j > i AND NOT m.rulings[j] AND m.ruled_paths[i] STARTS WITH m.ruled_paths[j]
      )))
      AND (NOT $claimed OR EXISTS { (m)-[:CLAIMS]->(:Belief {tenant: $tenant}) })
    WITH m
    // Sorting by the whole index key reads no more entries than the page needs.
    ORDER BY m.tenant, m.scope, m.status, m.trace_at, m.id
    LIMIT $limit
    RETURN collect(m) AS own
  }
  CALL (scope, own) {
    UNWIND own AS m
    RETURN m, m.trace_at AS last_at
  UNION ALL
    // A memory with events of other scopes was last stated at trace_at or later. If trace_at is after the end of a full
    // page, the memory sorts after that page.
    WITH CASE size(own) WHEN $limit THEN own[-1].trace_at ELSE $until END AS end
    MATCH (m:Memory)
    USING INDEX SEEK m:Memory(tenant, scope, status, trace_at)
    WHERE m.tenant = $tenant AND m.scope = scope AND m.status = 'current' AND m.trace_at <= end AND m.trace_foreign
      AND (NOT $claimed OR EXISTS { (m)-[:CLAIMS]->(:Belief {tenant: $tenant}) })
    CALL (m) {
      MATCH (m)<-[:REINFORCES]-(e:Event)
      WHERE e.scope IN $scopes
      RETURN max(e.occurred_at) AS last_at
    }
    LET node = m
    // include: fragments/rejected_for_reader.cypher
    FILTER NOT reader_rejects AND last_at < $until AND (last_at > $after_at OR (last_at = $after_at AND m.id > $after_id))
    RETURN m, last_at
    ORDER BY last_at, m.id
    LIMIT $limit
  }
  RETURN m, last_at
  ORDER BY last_at, m.id
  LIMIT $limit
}
// include: fragments/chain_heads.cypher
// include: fragments/memory_card.cypher
WITH m, card, $valid AS valid
// include: fragments/trace_events.cypher
// include: fragments/trace_fold.cypher
// include: fragments/trace_decayed.cypher
RETURN card, trace
ORDER BY card.last_seen_at, card.id
