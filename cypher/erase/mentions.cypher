// Events and replies whose JSON holds one of some texts; a page of each, by id.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $tenant  string   tenant name
//   $marks   list     texts to look for
//   $beyond  string   a scope whose events and replies are passed over; null: none
//   $event   string   the last page of events ended at this id; '' for the first
//   $reply   string   of replies likewise
//   $limit   integer  nodes of a page
// columns:
//   - event    string  where the page of events ended; null: it was the last one
//   - reply    string  of replies likewise
//   - events   list    maps of those that hold one: id, payload
//   - replies  list    maps of those that hold one: id, decided

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
// CartesianProduct: of single rows.
RETURN event, reply, events, replies
