// Check whether the vector indexes contain the newest turn and episode of the snapshot. The indexes lag behind commits.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $known  datetime  upper bound of known time
// columns:
//   - visible  boolean  whether both are indexed, if they exist

CALL () {
  MATCH (p:Turn)
  WHERE p.tenant = $tenant AND p.scope = $scope AND p.recorded_at <= $known AND p.embedding IS NOT NULL
  ORDER BY p.recorded_at DESC
  LIMIT 1
  CALL (p) {
    MATCH (n:Turn)
    SEARCH n IN (
      VECTOR INDEX turn_embedding_vector
      FOR p.embedding
      WHERE n.tenant = $tenant AND n.scope = $scope AND n.recorded_at >= p.recorded_at
      LIMIT 10
    )
    RETURN count(n) AS found
  }
  RETURN found
UNION ALL
  MATCH (p:Episode)
  WHERE p.tenant = $tenant AND p.scope = $scope AND p.recorded_at <= $known AND p.embedding IS NOT NULL
  ORDER BY p.recorded_at DESC
  LIMIT 1
  CALL (p) {
    MATCH (n:Episode)
    SEARCH n IN (
      VECTOR INDEX episode_embedding_vector
      FOR p.embedding
      WHERE n.tenant = $tenant AND n.scope = $scope AND n.recorded_at >= p.recorded_at
      LIMIT 10
    )
    RETURN count(n) AS found
  }
  RETURN found
}
RETURN all(x IN collect(found) WHERE x > 0) AS visible
