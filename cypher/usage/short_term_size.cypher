// Measure the texts of short-term memory: episodes, turns and the names of artifacts, and count the events of the log.
// mode: read
// rows: one
// plan: NodeIndexSeek
// allow: CartesianProduct
// params:
//   $scopes  list  read scopes
// columns:
//   - characters  integer  characters of these texts
//   - entries     integer  number of searches, accesses, and starts and ends of sessions

CALL () {
  MATCH (p:Episode)
  WHERE p.tenant = $tenant AND p.id IS NOT NULL AND p.scope IN $scopes
  RETURN sum(size(coalesce(p.content, '')) + size(coalesce(p.summary, ''))) AS size
UNION ALL
  MATCH (t:Turn)
  WHERE t.tenant = $tenant AND t.id IS NOT NULL AND t.scope IN $scopes
  RETURN sum(size(coalesce(t.text, ''))) AS size
UNION ALL
  MATCH (a:Artifact)
  WHERE a.tenant = $tenant AND a.id IS NOT NULL AND a.scope IN $scopes
  RETURN sum(size(a.ref)) AS size
}
WITH sum(size) AS characters
CALL () {
  MATCH (e:Event)
  USING INDEX e:Event(tenant, type, recorded_at)
  WHERE e.tenant = $tenant AND e.type IN ['SEARCH', 'ACCESS', 'SESSION_START', 'SESSION_END'] AND e.recorded_at IS NOT NULL
    AND e.scope IN $scopes
  RETURN count(e) AS entries
}
// CartesianProduct: both inputs are single rows.
RETURN characters, entries
