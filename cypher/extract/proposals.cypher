// List proposals, oldest first. Paged.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant    string    tenant name
//   $scopes    list      read scopes
//   $status    string    open, accepted or dismissed; null: all
//   $after_at  datetime  recorded_at of the last row of the previous page
//   $after_id  string    id of the last row of the previous page; '' for the first page
//   $limit     integer   maximum number of rows per page
// columns:
//   - proposal  map  id, scope, status, polarity, confidence, source_type, occurred_at, recorded_at, episode_id, actor, payload (JSON)

MATCH (e:Event)
USING INDEX e:Event(tenant, type, recorded_at)
WHERE e.tenant = $tenant AND e.type = 'PROPOSE' AND e.recorded_at >= $after_at AND e.scope IN $scopes
  AND (e.recorded_at > $after_at OR e.id > $after_id)
// include: fragments/proposal.cypher
FILTER $status IS NULL OR proposal.status = $status
RETURN proposal
ORDER BY proposal.recorded_at, proposal.id
LIMIT $limit
