// Compute the dates and the count of events that state `m` as of ($valid, $known), in $scopes. A memory without a
// visible event of its own scope did not exist and is dropped.
// needs: m
// leaves: created_at, last_seen_at, reinforce_count

CALL (m) {
  MATCH (m)<-[:REINFORCES]-(e:Event)
  WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR'] AND e.scope IN $scopes AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  // Counts all events except one: which of them created the memory depends on the order of arrival.
  RETURN min(CASE e.scope WHEN m.scope THEN e.occurred_at END) AS created_at,
         max(e.occurred_at) AS last_seen_at,
         count(e) - 1 AS reinforce_count
}
FILTER created_at IS NOT NULL
