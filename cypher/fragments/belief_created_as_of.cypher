// Compute when `m`, a belief, was created as of ($valid, $known), and drop beliefs without a visible event. The cached
// value comes from all events, so it is correct unless $known excludes some.
// needs: m
// leaves: created_at

CALL (m) {
  FILTER $known IS NULL
  RETURN m.created_at AS created_at
UNION ALL
  UNWIND CASE WHEN $known IS NULL THEN [] ELSE [1] END AS once
  MATCH (m)<-[:SUPPORTS|REFUTES|CONCERNS]-(x:Event)
  WHERE x.scope = m.scope AND x.occurred_at <= $valid AND x.recorded_at <= $known
  RETURN min(x.occurred_at) AS created_at
}
FILTER created_at <= $valid
