// List the texts that recall gave to a session. Includes search results and accessed items, both from the log and from
// pending log entries.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scope       string    scope of the session
//   $session_id  string    session id, as chosen by the caller
//   $since       datetime  inclusive lower bound of recorded_at; earlier entries belong to another session
//   $waiting     list      maps of pending log entries: at, payload, ids of the results
// columns:
//   - id       string  id of the result or the accessed item
//   - texts    list    texts of the node
//   - at       string  time of the entry
//   - payload  string  JSON with the query of a search; null for an access

CALL () {
  UNWIND ['SEARCH', 'ACCESS'] AS type
  CALL (type) {
    MATCH (e:Event)
    USING INDEX e:Event(tenant, type, recorded_at)
    WHERE e.tenant = $tenant AND e.type = type AND e.recorded_at >= $since AND e.scope = $scope AND e.actor = $session_id
    RETURN e
  }
  MATCH (e)-[:RETURNED|ACCESSED]->(n)
  RETURN n, e.occurred_at AS at, CASE e.type WHEN 'SEARCH' THEN e.payload END AS payload
UNION ALL
  UNWIND $waiting AS search
  UNWIND search.ids AS id
  MATCH (n:Memory|Belief|Turn|Episode {tenant: $tenant, id: id})
  RETURN n, search.at AS at, search.payload AS payload
}
RETURN n.id AS id, [text IN [n.content, n.statement, n.text, n.summary, n.gist] WHERE text IS NOT NULL] AS texts, toString(at) AS at, payload
