// Collect the supersessions around `n`, a memory or a belief, as paths to draw. Covers at most three steps.
// needs: n, page_size
// leaves: chain (a list of paths)

CALL (n) {
  MATCH way = (n)-[:SUPERSEDES*1..3]->(older)
  WHERE older.scope IN $scopes
  WITH way, older
  ORDER BY length(way), older.created_at DESC, older.id
  RETURN collect(way) AS before
}
CALL (n) {
  MATCH way = (n)<-[:SUPERSEDES*1..3]-(newer)
  WHERE newer.scope IN $scopes
  WITH way, newer
  ORDER BY length(way), newer.created_at DESC, newer.id
  RETURN collect(way) AS after
}
LET chain = before[..page_size] + after[..page_size]
