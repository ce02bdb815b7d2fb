// List sessions that started within a time range, by time of recording, with all their entries. Paged, oldest first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scopes    list      read scopes
//   $since     datetime  inclusive lower bound of recorded_at
//   $until     datetime  exclusive upper bound of recorded_at
//   $after_at  datetime  recorded_at of the last row of the previous page
// columns:
//   - id           string    id of the event that started the session
//   - recorded_at  datetime  time of recording, the sort key of pages
//   - scope        string    scope of the session
//   - agent        string    agent of the session; null: unknown
//   - payload      string    JSON with the session's name
//   - started_at   datetime  start time of the session
//   - entries      list      maps: id, type, at, payload, results (of a search), item_id (of an access)

MATCH (start:Event)
USING INDEX start:Event(tenant, type, recorded_at)
WHERE start.tenant = $tenant AND start.type = 'SESSION_START' AND start.recorded_at >= $since AND start.recorded_at < $until
  AND start.recorded_at >= $after_at AND (start.recorded_at > $after_at OR start.id > $after_id) AND start.scope IN $scopes
WITH start
ORDER BY start.recorded_at, start.id
LIMIT $limit
CALL (start) {
  MATCH (start)<-[:WITHIN]-(e:Event)
  // include: fragments/log_entry.cypher
  RETURN collect(entry) AS entries
}
RETURN start.id AS id, start.recorded_at AS recorded_at, start.scope AS scope, start.actor AS agent, start.payload AS payload,
       start.occurred_at AS started_at, entries
ORDER BY recorded_at, id
