// Compute the points of each candidate in each list. Needs rows of `kind`, `n` and `lists`, maps of list ('vector', 'words',
// 'late' or 'late_context') and found (its score); and $scoring, $mu, $trace, $scopes, $valid, $known. Leaves rows of
// `x`, a map (kind, n, trace of a memory), `list` (also 'recency' and 'access' if enabled), `found` and `points`.
// needs: kind, n, lists
// leaves: x, list, found, points
// twin: rules/tracerank.py final, oracles/blending.py recency and access

OPTIONAL CALL (kind, n) {
  FILTER kind = 'memory'
  WITH n AS m, $valid AS valid
  // include: fragments/trace_events.cypher
  // include: fragments/trace_fold.cypher
  // include: fragments/trace_decayed.cypher
  RETURN trace
}
WITH collect({kind: kind, n: n, lists: lists, trace: trace}) AS candidates
CALL (candidates) {
  UNWIND candidates AS x
  UNWIND x.lists AS l
  WITH x, l.list AS list, l.found AS found, (2 * l.found - 1 - $mu) / (1 - $mu) AS similarity
  RETURN x, list, found, CASE
    WHEN list <> 'vector' THEN found
    WHEN $scoring.distance THEN 1 / (1 + sqrt(CASE WHEN found < 1 THEN 4 - 4 * found ELSE 0 END))
    WHEN similarity > 0 THEN similarity * (1 + $trace.weight * log(1 + coalesce(x.trace, 0.0)))
    ELSE similarity
  END AS points
UNION ALL
  UNWIND CASE WHEN $scoring.recency > 0 THEN candidates ELSE [] END AS x
  CALL (x) {
    FILTER x.kind IN ['turn', 'episode']
    RETURN x.n.occurred_at AS at
  UNION ALL
    FILTER NOT x.kind IN ['turn', 'episode']
    WITH x.n AS n
    MATCH (n)<-[:REINFORCES|SUPPORTS]-(e:Event)
    WHERE e.scope IN $scopes AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
    RETURN max(e.occurred_at) AS at
  }
  FILTER at IS NOT NULL
  WITH x, ($valid.epochSeconds - at.epochSeconds + ($valid.microsecond - at.microsecond) / 1e6) / 86400 AS days
  RETURN x, 'recency' AS list, null AS found, exp(-days / $scoring.recency_days) AS points
UNION ALL
  UNWIND CASE WHEN $scoring.access > 0 THEN candidates ELSE [] END AS x
  WITH x, x.n AS n
  LET looks = COUNT {
    MATCH (n)<-[:ACCESSED]-(e:Event)
    WHERE e.scope IN $scopes AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  }
  FILTER looks > 0
  RETURN x, 'access' AS list, null AS found, log(1 + looks) AS points
}
