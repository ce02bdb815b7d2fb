// What was said and no belief rests on yet, with what lies near it: a page by when it was recorded, or those with the ids given. A
// passage is a turn of a person, or an episode without turns.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant      string    tenant name
//   $scope       string    scope name
//   $label       string    of a page: Turn or Episode
//   $since       datetime  of a page: only what was recorded after it
//   $after_at    datetime  of a page: the last one ended at this recorded_at
//   $after_id    string    id of the last row of the previous page; '' for the first page
//   $limit       integer   of a page: rows at most
//   $ids         list      of passages; null: a page
//   $known       datetime  upper bound of known time
//   $machines    list      roles whose words are no evidence
//   $neighbours  integer   nearest passages to look at, of turns and of episodes each, >= 1
//   $beliefs     integer   nearest beliefs to look at, >= 1
//   $least       float     score from which a passage is near
//   $least_same  float     score from which a belief is near
// columns:
//   - id           string    of the passage
//   - recorded_at  datetime  time of recording, the sort key of pages
//   - passage      map       label, episode_id, name, role, text, at
//   - near         list      [id, score] of open passages of the same speaker, nearest first
//   - same         list      maps of beliefs, nearest first: status, score, and the fields of a claim

// include: fragments/open_passages.cypher
CALL (p) {
  CALL (p) {
    FILTER p.role IS NOT NULL
    MATCH (n:Turn)
    SEARCH n IN (
      VECTOR INDEX turn_embedding_vector
      FOR p.embedding
      WHERE n.tenant = $tenant AND n.scope = $scope AND n.recorded_at <= $known
      LIMIT $neighbours
    ) SCORE AS score
    FILTER n.role = p.role AND coalesce(n.name, '') = coalesce(p.name, '')
    RETURN n, score
  UNION ALL
    FILTER p.role IS NULL
    MATCH (n:Episode)
    SEARCH n IN (
      VECTOR INDEX episode_embedding_vector
      FOR p.embedding
      WHERE n.tenant = $tenant AND n.scope = $scope AND n.recorded_at <= $known
      LIMIT $neighbours
    ) SCORE AS score
    FILTER NOT EXISTS { (n)<-[:OCCURRED_IN]-(:Turn {tenant: $tenant}) }
    RETURN n, score
  }
  FILTER score >= $least AND n.id <> p.id
    AND NOT EXISTS { (n)<-[:QUOTES|OCCURRED_IN]-(x:Event {tenant: $tenant, source: 'consolidation'}) WHERE x.recorded_at <= $known }
  ORDER BY score DESC, n.id
  RETURN collect([n.id, score]) AS near
}
CALL (p) {
  MATCH (b:Belief)
  SEARCH b IN (
    VECTOR INDEX belief_embedding_vector
    FOR p.embedding
    WHERE b.tenant = $tenant AND b.scope = $scope AND b.recorded_at <= $known AND b.status IN ['current', 'archived']
    LIMIT $beliefs
  ) SCORE AS score
  FILTER score >= $least_same
  ORDER BY score DESC, b.id
  RETURN collect(b {
    .id, .scope, .slot_id, .statement, .subject, .predicate, .object, .subject_key, .predicate_key, .object_key, .status, score: score
  }) AS same
}
WITH p, near, same
// include: fragments/passage.cypher
RETURN p.id AS id, p.recorded_at AS recorded_at, passage, near, same
ORDER BY recorded_at, id
