// Since when `m`, a belief, is there at ($valid, $known): one that nothing seen speaks of is left out. Needs `m`; leaves
// `created_at`. What is cached of it comes from all events, so it is that of the events seen unless some are too new for $known.

CALL (m) {
  FILTER $known IS NULL
  RETURN m.created_at AS created_at
UNION ALL
  FILTER $known IS NOT NULL
  MATCH (m)<-[:SUPPORTS|REFUTES|CONCERNS]-(x:Event)
  WHERE x.occurred_at <= $valid AND x.recorded_at <= $known
  RETURN min(x.occurred_at) AS created_at
}
FILTER created_at <= $valid
