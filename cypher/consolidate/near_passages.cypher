// List passages without a belief that are near to the beliefs of a run. Beliefs that are older than the run are
// skipped.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $beliefs      list      maps: id, and vector, the embedding of the statement, or null for the stored one
//   $known        datetime  upper bound of known time
//   $human_roles  list      roles of people, lower case; other turns are not evidence
//   $limit        integer   maximum number of nearest turns, and of nearest episodes, per belief, >= 1
//   $min_score    float     minimum score of a near passage
// columns:
//   - belief_id  string  belief id
//   - score      float   similarity score
//   - id         string  passage id
//   - passage    map     label, episode_id, name, role, text, at

UNWIND $beliefs AS belief
OPTIONAL MATCH (b:Belief {tenant: $tenant, id: belief.id})
WITH belief.id AS belief_id, coalesce(belief.vector, b.embedding) AS vector, b
WHERE vector IS NOT NULL AND (b IS NULL OR b.recorded_at > $known)
CALL (vector) {
  MATCH (p:Turn)
  SEARCH p IN (
    VECTOR INDEX turn_embedding_vector
    FOR vector
    WHERE p.tenant = $tenant AND p.scope = $scope AND p.recorded_at <= $known
    LIMIT $limit
  ) SCORE AS score
  FILTER toLower(p.role) IN $human_roles
  RETURN p, score
UNION ALL
  MATCH (p:Episode)
  SEARCH p IN (
    VECTOR INDEX episode_embedding_vector
    FOR vector
    WHERE p.tenant = $tenant AND p.scope = $scope AND p.recorded_at <= $known
    LIMIT $limit
  ) SCORE AS score
  FILTER NOT EXISTS { (p)<-[:OCCURRED_IN]-(:Turn {tenant: $tenant}) }
  RETURN p, score
}
FILTER score >= $min_score
  AND NOT EXISTS { (p)<-[:QUOTES|OCCURRED_IN]-(x:Event {tenant: $tenant, source: 'consolidation'}) WHERE x.recorded_at <= $known }
// include: fragments/passage.cypher
RETURN belief_id, score, p.id AS id, passage
ORDER BY belief_id, score DESC, id
