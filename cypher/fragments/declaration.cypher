// Match the declaration that applies now to what the reader writes about a predicate: the nearest, as in
// fragments/policy.cypher, for a fact of the reader's own scope.
// needs: predicate_key
// leaves: declared (a Predicate; null if none)

OPTIONAL CALL (predicate_key) {
  MATCH (near:Predicate {tenant: $tenant, key: predicate_key})
  WHERE near.scope IN [$scope, 'global'] AND (near.scope = $scope OR near.scope IN $scopes AND near.trust = 4)
    AND near.event_id IS NOT NULL
  RETURN near AS declared
  ORDER BY near.trust = 4 DESC, near.scope = $scope DESC
  LIMIT 1
}
