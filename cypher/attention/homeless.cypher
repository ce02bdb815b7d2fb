// Searches and looks outside any session, recorded in a time; a page, oldest first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant    string    whose
//   $scopes    list      scopes the reader can see
//   $type      string    SEARCH or ACCESS
//   $since     datetime  recorded then or later
//   $until     datetime  recorded before
//   $after_at  datetime  the last page ended at this recorded_at
//   $after_id  string    and this id; '' for the first page
//   $limit     integer   rows of a page
// columns:
//   - id           string    of the event
//   - recorded_at  datetime  by which pages go
//   - entry        map       id, type, at, payload, results (of a search), item_id (of a look)

MATCH (e:Event)
USING INDEX e:Event(tenant, type, recorded_at)
WHERE e.tenant = $tenant AND e.type = $type AND e.recorded_at >= $since AND e.recorded_at < $until
  AND e.recorded_at >= $after_at AND (e.recorded_at > $after_at OR e.id > $after_id) AND e.scope IN $scopes
  AND NOT EXISTS { (e)-[:WITHIN]->(:Event) }
WITH e
ORDER BY e.recorded_at, e.id
LIMIT $limit
// include: fragments/log_entry.cypher
RETURN e.id AS id, e.recorded_at AS recorded_at, entry
ORDER BY recorded_at, id
