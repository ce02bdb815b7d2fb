// List open sessions in which nothing was logged since a given time.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $before  datetime  only sessions without entries from this time on
// columns:
//   - id       string    id of the event that started the session
//   - scope    string    scope of the session
//   - agent    string    agent of the session; null: unknown
//   - payload  string    JSON with the session's name
//   - last_at  datetime  time of the last entry
//   - logged   integer   number of searches and accesses in the graph

MATCH (start:Event)
USING INDEX start:Event(tenant, type, recorded_at)
WHERE start.tenant = $tenant AND start.type = 'SESSION_START' AND start.recorded_at < $before
  AND NOT EXISTS { (start)<-[:WITHIN]-(:Event {tenant: $tenant, type: 'SESSION_END'}) }
CALL (start) {
  OPTIONAL MATCH (start)<-[:WITHIN]-(e:Event {tenant: $tenant})
  RETURN coalesce(max(e.occurred_at), start.occurred_at) AS last_at, count(e) AS logged
}
FILTER last_at < $before
RETURN start.id AS id, start.scope AS scope, start.actor AS agent, start.payload AS payload, last_at, logged
ORDER BY id
