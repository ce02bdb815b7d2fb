// List proposals of evidence, of updates and of retractions, oldest first. Paged.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $status    string    open, accepted or dismissed; null: all
//   $after_at  datetime  recorded_at of the last row of the previous page
// columns:
//   - proposal  map  id, type, scope, status, polarity, confidence, source_type, occurred_at, recorded_at, episode_id, actor, payload (JSON); memories (those of an update, maps of id and content), belief (whose evidence a retraction is about, a map of id and statement, or null)

UNWIND ['PROPOSE', 'PROPOSE_UPDATE', 'PROPOSE_RETRACT'] AS type
CALL (type) {
  MATCH (e:Event)
  USING INDEX e:Event(tenant, type, recorded_at)
  WHERE e.tenant = $tenant AND e.type = type AND e.recorded_at >= $after_at AND e.scope IN $scopes
    AND (e.recorded_at > $after_at OR e.id > $after_id)
  RETURN e
}
// include: fragments/proposal.cypher
FILTER $status IS NULL OR proposal.status = $status
RETURN proposal
ORDER BY proposal.recorded_at, proposal.id
LIMIT $limit
