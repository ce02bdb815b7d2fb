// Count what the read scopes hold of each kind, up to $limit for each, for the reason of an empty recall.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $others  list      read scopes that were not searched
//   $valid   datetime  upper bound of valid time
//   $known   datetime  upper bound of known time; null: no bound
//   $limit   integer   maximum number counted of a kind, in the scopes that were searched and in the others
// columns:
//   - kind      string   memory, belief, turn or episode
//   - status    string   of memories and beliefs; current for the others
//   - searched  boolean  whether its scope was searched
//   - later     boolean  whether it is later than $valid, or was recorded after $known
//   - items     integer  number of these items

UNWIND [{searched: true, places: $scopes}, {searched: false, places: $others}] AS part
LET searched = part.searched, places = part.places
CALL (places) {
  MATCH (n:Memory)
  USING INDEX n:Memory(tenant, scope, status)
  WHERE n.tenant = $tenant AND n.scope IN places AND n.status IS NOT NULL
  RETURN 'memory' AS kind, n.status AS status, n.created_at > $valid OR ($known IS NOT NULL AND n.recorded_at > $known) AS later
  LIMIT $limit
UNION ALL
  MATCH (n:Belief)
  USING INDEX n:Belief(tenant, scope, created_at)
  WHERE n.tenant = $tenant AND n.scope IN places AND n.created_at IS NOT NULL
  RETURN 'belief' AS kind, n.status AS status, n.created_at > $valid OR ($known IS NOT NULL AND n.recorded_at > $known) AS later
  LIMIT $limit
UNION ALL
  MATCH (n:Turn)
  USING INDEX n:Turn(tenant, scope, recorded_at)
  WHERE n.tenant = $tenant AND n.scope IN places AND n.recorded_at IS NOT NULL
  RETURN 'turn' AS kind, 'current' AS status, n.occurred_at > $valid OR ($known IS NOT NULL AND n.recorded_at > $known) AS later
  LIMIT $limit
UNION ALL
  MATCH (n:Episode)
  USING INDEX n:Episode(tenant, scope, recorded_at)
  WHERE n.tenant = $tenant AND n.scope IN places AND n.recorded_at IS NOT NULL
  RETURN 'episode' AS kind, 'current' AS status, n.occurred_at > $valid OR ($known IS NOT NULL AND n.recorded_at > $known) AS later
  LIMIT $limit
}
RETURN kind, status, searched, later, count(*) AS items
