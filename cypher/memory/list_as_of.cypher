// List memories as of (valid, known), newest first. Paged. The tags are the current ones.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $statuses   list      statuses to return, as of the read
//   $tags       list      required tags; all must match
//   $source     string    required source of at least one visible event; null: any
//   $since      datetime  inclusive lower bound of created_at; null: none
//   $until      datetime  exclusive upper bound of created_at; null: none
//   $before_at  datetime  created_at of the last row of the previous page; null: the first page
//   $before_id  string    id of the last row of the previous page
//   $limit      integer   maximum number of rows per page
//   $valid      datetime  upper bound of valid time
//   $known      datetime  upper bound of known time
// columns:
//   - cards  list      see fragments/memory_card_as_of.cypher; and trust, its rank: see rules/trust.py
//   - now    datetime  server clock

CALL () {
  MATCH (m:Memory)
  // The cached created_at comes from all events: a created_at from the visible events is never earlier.
  WHERE m.tenant = $tenant AND m.scope IN $scopes AND m.created_at <= $valid
    AND all(tag IN $tags WHERE tag IN m.tags)
    AND ($source IS NULL OR EXISTS {
      MATCH (m)<-[:REINFORCES]-(e:Event)
      WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR'] AND e.source = $source AND e.scope IN $scopes AND e.occurred_at <= $valid AND e.recorded_at <= $known
    })
  // include: fragments/memory_dates_as_of.cypher
  FILTER ($since IS NULL OR created_at >= $since)
    AND ($until IS NULL OR created_at < $until)
    AND ($before_at IS NULL OR created_at < $before_at OR (created_at = $before_at AND m.id < $before_id))
  // Sorting before the status is computed limits that work to the memories of the page.
  WITH *
  ORDER BY created_at DESC, m.id DESC
  CALL (m) {
    WITH m AS node
    // include: fragments/status_as_of.cypher
    RETURN status AS own_status
  }
  FILTER own_status IN $statuses
  WITH *
  ORDER BY created_at DESC, m.id DESC
  LIMIT $limit
  // include: fragments/lineage_as_of.cypher
  // include: fragments/memory_card_as_of.cypher
  LET valid = $valid
  // include: fragments/memory_trust.cypher
  WITH card {.*, trust: trust} AS card, created_at, m
  ORDER BY created_at DESC, m.id DESC
  RETURN collect(card) AS cards
}
RETURN cards, datetime.realtime('Z') AS now
