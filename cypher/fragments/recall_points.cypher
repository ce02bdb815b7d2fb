// Compute the points of each candidate in each list. Needs rows of `kind`, `list` ('vector' or 'words'), `n`, `found`
// (Neo4j's score) and `trace` (of memories in the vector list, else 0), and $by, $mu, $trace, $scopes, $valid, $known;
// leaves rows of `kind`, `list` (also 'recency' and 'access' if enabled), `n`, `found` and `points`. Twins:
// rules/tracerank.py final, oracles/blending.py recency and access

WITH collect({kind: kind, list: list, n: n, found: found, trace: trace}) AS candidates
CALL (candidates) {
  UNWIND candidates AS x
  WITH x, (2 * x.found - 1 - $mu) / (1 - $mu) AS similarity
  RETURN x.kind AS kind, x.list AS list, x.n AS n, x.found AS found, CASE
    WHEN x.list = 'words' THEN x.found
    WHEN $by.distance THEN 1 / (1 + sqrt(CASE WHEN x.found < 1 THEN 4 - 4 * x.found ELSE 0 END))
    WHEN similarity > 0 THEN similarity * (1 + $trace.weight * log(1 + x.trace))
    ELSE similarity
  END AS points
UNION ALL
  UNWIND CASE WHEN $by.recency > 0 THEN candidates ELSE [] END AS x
  WITH DISTINCT x.kind AS kind, x.n AS n
  CALL (kind, n) {
    FILTER kind = 'turn'
    RETURN n.occurred_at AS at
  UNION ALL
    FILTER kind <> 'turn'
    MATCH (n)<-[:REINFORCES|SUPPORTS]-(e:Event)
    WHERE e.scope IN $scopes AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
    RETURN max(e.occurred_at) AS at
  }
  FILTER at IS NOT NULL
  WITH kind, n, ($valid.epochSeconds - at.epochSeconds + ($valid.microsecond - at.microsecond) / 1e6) / 86400 AS days
  RETURN kind, 'recency' AS list, n, null AS found, exp(-days / $by.recency_days) AS points
UNION ALL
  UNWIND CASE WHEN $by.access > 0 THEN candidates ELSE [] END AS x
  WITH DISTINCT x.kind AS kind, x.n AS n
  MATCH (n)<-[:ACCESSED]-(e:Event)
  WHERE e.scope IN $scopes AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  RETURN kind, 'access' AS list, n, null AS found, log(1 + count(e)) AS points
}
