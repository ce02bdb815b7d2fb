// Return the event history of a belief as of (valid, known), oldest first. Covers statements, evidence, retractions and
// supersessions.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $id     string    belief id
//   $limit  integer   maximum number of newest events
//   $valid  datetime  upper bound of valid time; retractions apply at every valid time
//   $known  datetime  upper bound of known time
// columns:
//   - events  list      maps, see fragments/belief_event.cypher; empty if the belief did not exist
//   - now     datetime  server clock

CALL () {
  MATCH (b:Belief {tenant: $tenant, id: $id})
  WHERE b.scope IN $scopes
  WITH b, $valid AS valid
  CALL (b, valid) {
    MATCH (b)<-[edge:SUPPORTS|REFUTES|CONCERNS]-(e:Event)
    WHERE e.scope IN $scopes AND e.occurred_at <= valid AND e.recorded_at <= $known
    RETURN e, type(edge) <> 'CONCERNS' AS speaks
    ORDER BY e.occurred_at DESC, e.recorded_at DESC, e.id DESC
    LIMIT $limit
  UNION ALL
    MATCH (b)<-[:SUPPORTS|REFUTES]-(x:Event)
    WHERE x.occurred_at <= valid AND x.recorded_at <= $known AND EXISTS { (x)<-[:RETRACTS]-() }
    MATCH way = (x)<-[:RETRACTS*1..]-(e:Event)
    WHERE all(r IN nodes(way)[1..] WHERE r.recorded_at <= $known)
    WITH DISTINCT e
    RETURN e, false AS speaks
    ORDER BY e.occurred_at DESC, e.recorded_at DESC, e.id DESC
    LIMIT $limit
  }
  WITH e, speaks, valid
  ORDER BY e.occurred_at DESC, e.recorded_at DESC, e.id DESC
  LIMIT $limit
  CALL (e, valid) {
    // include: fragments/not_retracted.cypher
    RETURN count(*) = 1 AS counts
  }
  // include: fragments/belief_event.cypher
  WITH e, line
  ORDER BY e.occurred_at, e.recorded_at, e.id
  RETURN collect(line) AS events
}
RETURN events, datetime.realtime('Z') AS now
