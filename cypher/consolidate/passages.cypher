// List passages without a belief, and their nearest passages and beliefs. Selected by page in order of recording, or by
// id. A passage is a turn of a person, or an episode without turns.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $label           string    page only: Turn or Episode
//   $since           datetime  page only: exclusive lower bound of recorded_at
//   $after_at        datetime  page only: recorded_at of the last row of the previous page
//   $after_id        string    id of the last row of the previous page; '' for the first page
//   $limit           integer   page only: maximum number of rows
//   $ids             list      passage ids; null: a page
//   $known           datetime  upper bound of known time
//   $human_roles     list      roles of people, lower case; other turns are not evidence
//   $neighbours      integer   maximum number of nearest turns, and of nearest episodes, >= 1
//   $beliefs         integer   maximum number of nearest beliefs, >= 1
//   $min_score       float     minimum score of a near passage
//   $min_score_same  float     minimum score of a near belief
// columns:
//   - id           string    passage id
//   - recorded_at  datetime  time of recording, the sort key of pages
//   - passage      map       label, episode_id, name, role, text, at
//   - near         list      [id, score] of passages without a belief by the same speaker, nearest first
//   - same         list      maps of beliefs, nearest first: status, score, and the fields of a claim
//   - quoted       list      the same of beliefs that near passages of the same speaker support; also name and text of that passage

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
  FILTER n.id <> p.id
  LET used = EXISTS { (n)<-[:QUOTES|OCCURRED_IN]-(x:Event {tenant: $tenant, source: 'consolidation'}) WHERE x.recorded_at <= $known }
  ORDER BY score DESC, n.id
  RETURN collect(CASE WHEN NOT used AND score >= $min_score THEN [n.id, score] END) AS near,
         collect(CASE WHEN used AND score >= $min_score_same THEN {id: n.id, score: score} END)[..$beliefs] AS sources
}
CALL (sources) {
  UNWIND sources AS one
  WITH one.id AS id, one.score AS score
  MATCH (n:Turn|Episode {tenant: $tenant, id: id})<-[:QUOTES|OCCURRED_IN]-(x:Event {tenant: $tenant, source: 'consolidation'})-[:SUPPORTS {tenant: $tenant}]->(b:Belief {tenant: $tenant})
  WHERE x.recorded_at <= $known AND b.scope = $scope AND b.recorded_at <= $known AND b.status IN ['current', 'archived'] AND b.rejected IS NULL
    AND x.target_id IS NULL AND NOT EXISTS { (x)<-[:RETRACTS]-(:Event {tenant: $tenant}) }
  WITH b, n, score
  ORDER BY score DESC, b.id, n.id
  RETURN collect(DISTINCT b {
    .id, .scope, .slot_id, .statement, .subject, .predicate, .object, .subject_key, .predicate_key, .object_key, .depth, .status, score: score,
    name: n.name, text: coalesce(n.text, n.summary, n.content, '')
  }) AS quoted
}
CALL (p) {
  MATCH (b:Belief)
  SEARCH b IN (
    VECTOR INDEX belief_embedding_vector
    FOR p.embedding
    WHERE b.tenant = $tenant AND b.scope = $scope AND b.recorded_at <= $known AND b.status IN ['current', 'archived']
    LIMIT $beliefs
  ) SCORE AS score
  FILTER score >= $min_score_same AND b.rejected IS NULL
  ORDER BY score DESC, b.id
  RETURN collect(b {
    .id, .scope, .slot_id, .statement, .subject, .predicate, .object, .subject_key, .predicate_key, .object_key, .depth, .status, score: score
  }) AS same
}
WITH p, near, same, quoted
// include: fragments/passage.cypher
RETURN p.id AS id, p.recorded_at AS recorded_at, passage, near, same, quoted
ORDER BY recorded_at, id
