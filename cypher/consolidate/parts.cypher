// List beliefs that no belief generalises yet, with the nearest such beliefs and the evidence from consolidation that each
// rests on. Paged by id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $known      datetime  upper bound of known time
//   $max_depth  integer   maximum depth of a belief that generalises others
//   $nearest    integer   maximum number of nearest beliefs, >= 1
//   $min_score  float     minimum score of a near belief
//   $after      string    id of the last row of the previous page; '' for the first page
//   $limit      integer   maximum number of beliefs read per page
// columns:
//   - id          string    belief id
//   - statement   string    its statement
//   - depth       integer   its depth
//   - created_at  datetime  time of its first evidence
//   - near        list      [id, score] of near beliefs, whether generalised or not
//   - evidence    list      maps, oldest first: event_id, confidence, trust, and id and passage (fragments/passage.cypher) of the turn or episode; empty: it is generalised, or rests on none

MATCH (b:Belief)
USING INDEX b:Belief(tenant, id)  // sort key of pages
WHERE b.tenant = $tenant AND b.scope = $scope AND b.id > $after AND b.recorded_at <= $known AND b.status = 'current' AND b.rejected IS NULL
  AND coalesce(b.depth, 0) < $max_depth AND b.embedding IS NOT NULL
WITH b
ORDER BY b.id
LIMIT $limit
CALL (b) {
  MATCH (b)<-[:SUPPORTS {tenant: $tenant}]-(e:Event {tenant: $tenant, source: 'consolidation'})
  WHERE e.recorded_at <= $known AND NOT EXISTS { (e)<-[:RETRACTS]-(:Event {tenant: $tenant}) }
  MATCH (e)-[:OCCURRED_IN]->(episode:Episode {tenant: $tenant})
  OPTIONAL MATCH (e)-[:QUOTES]->(turn:Turn {tenant: $tenant})
  LET p = coalesce(turn, episode)
  // include: fragments/passage.cypher
  WITH e, p, passage, EXISTS {
    MATCH (drawn:Event {tenant: $tenant, target_id: e.id})
    WHERE drawn.type = 'EVIDENCE' AND drawn.recorded_at <= $known
  } AS used
  ORDER BY e.occurred_at, e.id
  WITH collect({id: p.id, passage: passage, event_id: e.id, confidence: e.confidence, trust: e.trust}) AS found, collect(used) AS used
  RETURN CASE WHEN true IN used THEN [] ELSE found END AS evidence
}
CALL (b, evidence) {
  FILTER size(evidence) > 0
  MATCH (n:Belief)
  SEARCH n IN (
    VECTOR INDEX belief_embedding_vector
    FOR b.embedding
    WHERE n.tenant = $tenant AND n.scope = $scope AND n.status = 'current'
    LIMIT $nearest
  ) SCORE AS score
  FILTER score >= $min_score AND n.id <> b.id
  ORDER BY score DESC, n.id
  RETURN collect([n.id, score]) AS near
}
RETURN b.id AS id, b.statement AS statement, coalesce(b.depth, 0) AS depth, b.created_at AS created_at, near, evidence
ORDER BY id
