// What was said of `m` at ($valid, $known), in $scopes; a memory that nothing seen of its own scope speaks of is left
// out: it did not exist. Needs `m`; leaves `created_at`, `last_seen_at` and `reinforce_count`.

CALL (m) {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.scope IN $scopes AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  // Counted as all but the first: which of them made the memory depends on the order of arrival.
  RETURN min(CASE e.scope WHEN m.scope THEN e.occurred_at END) AS created_at,
         max(e.occurred_at) AS last_seen_at,
         count(e) - 1 AS reinforce_count
}
FILTER created_at IS NOT NULL
