// List searches and accesses outside sessions, recorded within a time range. Paged, oldest first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scopes    list      read scopes
//   $since     datetime  inclusive lower bound of recorded_at
//   $until     datetime  exclusive upper bound of recorded_at
//   $after_at  datetime  recorded_at of the last row of the previous page
// columns:
//   - id           string    id of the event
//   - recorded_at  datetime  time of recording, the sort key of pages
//   - entry        map       id, type, at, payload, results (of a search), item_id (of an access)

CALL () {
  UNWIND ['SEARCH', 'ACCESS'] AS type
  CALL (type) {
    MATCH (e:Event)
    USING INDEX e:Event(tenant, type, recorded_at)
    WHERE e.tenant = $tenant AND e.type = type AND e.recorded_at >= $since AND e.recorded_at < $until
      AND e.recorded_at >= $after_at AND (e.recorded_at > $after_at OR e.id > $after_id) AND e.scope IN $scopes
      AND NOT EXISTS { (e)-[:WITHIN]->(:Event) }
    RETURN e
    ORDER BY e.recorded_at, e.id
    LIMIT $limit
  }
  RETURN e
}
WITH e
ORDER BY e.recorded_at, e.id
LIMIT $limit
// include: fragments/log_entry.cypher
RETURN e.id AS id, e.recorded_at AS recorded_at, entry
ORDER BY recorded_at, id
