// Memories as they were at a pair of times, newest first, a page at a time; their tags are those of now.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $tenant      string    tenant name
//   $scopes      list      read scopes
//   $statuses    list      which to show, by their status then
//   $tags        list      all of them must be there
//   $source      string    one of the events seen must come from it; null: any
//   $since       datetime  created then or later; null: any
//   $until       datetime  created before; null: any
//   $before_at   datetime  the last page ended at this created_at; null: first page
//   $before_id   string    id of the last row of the previous page
//   $limit       integer   maximum number of rows per page
//   $valid       datetime  upper bound of valid time
//   $known       datetime  upper bound of known time
// columns:
//   - cards  list      see fragments/memory_card_as_of.cypher
//   - now    datetime  server clock

CALL () {
  MATCH (m:Memory)
  // The cached created_at comes from all events: that of the events seen is never earlier.
  WHERE m.tenant = $tenant AND m.scope IN $scopes AND m.created_at <= $valid
    AND all(tag IN $tags WHERE tag IN m.tags)
    AND ($source IS NULL OR EXISTS {
      MATCH (m)<-[:REINFORCES]-(e:Event)
      WHERE e.source = $source AND e.scope IN $scopes AND e.occurred_at <= $valid AND e.recorded_at <= $known
    })
  // include: fragments/seen_as_of.cypher
  FILTER ($since IS NULL OR created_at >= $since)
    AND ($until IS NULL OR created_at < $until)
    AND ($before_at IS NULL OR created_at < $before_at OR (created_at = $before_at AND m.id < $before_id))
  // Sorted before the status is asked for: that is then done for no more memories than the page needs.
  WITH *
  ORDER BY created_at DESC, m.id DESC
  CALL (m) {
    WITH m AS node
    // include: fragments/standing_as_of.cypher
    RETURN status AS own_status
  }
  FILTER own_status IN $statuses
  WITH *
  ORDER BY created_at DESC, m.id DESC
  LIMIT $limit
  // include: fragments/lineage_as_of.cypher
  // include: fragments/memory_card_as_of.cypher
  WITH card, created_at, m
  ORDER BY created_at DESC, m.id DESC
  RETURN collect(card) AS cards
}
RETURN cards, datetime.realtime('Z') AS now
