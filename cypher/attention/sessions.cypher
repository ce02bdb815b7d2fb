// Sessions that began in a time, as it was recorded, with all that was logged in them; a page, oldest first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant    string    whose
//   $scopes    list      scopes the reader can see
//   $since     datetime  recorded then or later
//   $until     datetime  recorded before
//   $after_at  datetime  the last page ended at this recorded_at
//   $after_id  string    and this id; '' for the first page
//   $limit     integer   rows of a page
// columns:
//   - id           string    of the event that began it
//   - recorded_at  datetime  by which pages go
//   - scope        string    of the session
//   - agent        string    who worked in it; null: not known
//   - payload      string    JSON with the session's name
//   - started_at   datetime  when it began
//   - entries      list      maps: id, type, at, payload, results (of a search), item_id (of a look)

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
