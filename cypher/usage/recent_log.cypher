// List the newest entries of the search log, newest first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scopes  list  read scopes
// columns:
//   - id       string    id of the event
//   - type     string    SEARCH or ACCESS
//   - at       datetime  time of the entry
//   - scope    string    scope of the event
//   - actor    string    session name; null outside sessions
//   - payload  string    JSON of tool and query of a SEARCH event
//   - items    list      maps of kind, id and text: the accessed item, or the three best results

CALL () {
  UNWIND ['SEARCH', 'ACCESS'] AS type
  CALL (type) {
    MATCH (e:Event)
    USING INDEX e:Event(tenant, type, recorded_at)
    WHERE e.tenant = $tenant AND e.type = type AND e.recorded_at IS NOT NULL AND e.scope IN $scopes
    RETURN e
    ORDER BY e.recorded_at DESC, e.id DESC
    LIMIT $limit
  }
  RETURN e
}
WITH e
ORDER BY e.recorded_at DESC, e.id DESC
LIMIT $limit
CALL (e) {
  MATCH (e)-[hit:RETURNED|ACCESSED]->(n)
  WHERE coalesce(hit.rank, 1) <= 3 AND n.scope IN $scopes
  WITH hit, n
  ORDER BY hit.rank
  RETURN collect({kind: labels(n)[0], id: n.id, text: coalesce(n.content, n.statement, n.text, n.ref, n.summary, n.session_id)}) AS items
}
RETURN e.id AS id, e.type AS type, e.occurred_at AS at, e.scope AS scope, e.actor AS actor, e.payload AS payload, items
ORDER BY e.recorded_at DESC, e.id DESC
