// Find events and replies whose JSON contains one of the given ids, among the nodes with a token that matches.
// mode: read
// rows: one
// params:
//   $tokens  string   full-text query of tokens
//   $marks   list     ids to find
//   $limit   integer  maximum number of nodes with a matching token
// columns:
//   - number   integer  number of nodes with a matching token, at most the limit
//   - events   list     maps of the matching events: id, payload
//   - replies  list     maps of the matching replies: id, decided

CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()
CALL db.index.fulltext.queryNodes('event_payload_fulltext', $tokens) YIELD node AS n
FILTER n.tenant = $tenant
WITH n LIMIT $limit
LET found = any(mark IN $marks WHERE n.payload CONTAINS mark OR n.decided CONTAINS mark)
RETURN count(n) AS number,
       collect(CASE WHEN n:Event AND found THEN n {.id, .payload} END) AS events,
       collect(CASE WHEN n:Reply AND found THEN n {.id, .decided} END) AS replies
