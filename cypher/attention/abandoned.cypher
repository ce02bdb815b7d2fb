// Sessions that have begun, have not ended, and in which nothing was logged since an instant.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant  string    whose
//   $before  datetime  nothing was logged from here on
// columns:
//   - id          string    of the event that began it
//   - scope       string    of the session
//   - agent       string    who worked in it; null: not known
//   - payload     string    JSON with the session's name
//   - last_at     datetime  of what was logged last
//   - logged      integer   searches and accesses that are in the graph

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
