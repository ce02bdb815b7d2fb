// Find events and replies whose JSON contains one of the given texts. Paged by id, one page each.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $marks   list    texts to find
//   $beyond  string  scope whose events and replies are skipped; null: none
//   $event   string  last event id of the previous page; '' for the first page
//   $reply   string  last reply id of the previous page; '' for the first page
// columns:
//   - event    string  last event id of the page; null: no more pages
//   - reply    string  last reply id of the page; null: no more pages
//   - events   list    maps of the matching events: id, payload
//   - replies  list    maps of the matching replies: id, decided

CALL () {
  MATCH (e:Event)
  WHERE e.tenant = $tenant AND e.id > $event
  WITH e
  ORDER BY e.tenant, e.id
  LIMIT $limit
  RETURN CASE count(e) WHEN $limit THEN max(e.id) END AS event,
         [x IN collect(CASE WHEN coalesce(e.scope <> $beyond, true) AND any(mark IN $marks WHERE e.payload CONTAINS mark) THEN e END) | x {.id, .payload}] AS events
}
CALL () {
  MATCH (r:Reply)
  WHERE r.tenant = $tenant AND r.id > $reply
  WITH r
  ORDER BY r.tenant, r.id
  LIMIT $limit
  RETURN CASE count(r) WHEN $limit THEN max(r.id) END AS reply,
         [x IN collect(CASE WHEN coalesce(r.scope <> $beyond, true) AND any(mark IN $marks WHERE r.decided CONTAINS mark) THEN r END)
           | x {.id, .decided}] AS replies
}
// CartesianProduct: both inputs are single rows.
RETURN event, reply, events, replies
