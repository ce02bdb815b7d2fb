// What memory gave to those who took part in a session: the results of its searches and what was looked at, those logged and those
// whose log still waits to be written.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant      string    tenant name
//   $scope       string    scope of the session
//   $session_id  string    as its user calls it
//   $since       datetime  what was logged before it belongs to another session
//   $waiting     list      maps of what is not in the log yet: at, payload, ids of what was found
// columns:
//   - id       string  of what was found
//   - texts    list    texts of the node
//   - at       string  time of the entry
//   - payload  string  of a search: JSON with the query; null for a look

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
