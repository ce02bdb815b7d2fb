// Return what a name in a fact is an alias of, as of $known. One row: a folded name; none if it is not an alias. The nearest
// alias applies: of the reader's own scope, then of the fact's, then global, where the reader reads these. In one scope the
// newest event by (occurred_at, id) applies, at every valid time, because an alias has no start date.
// needs: named (a folded name), named_in (scope of the fact; null: none)
// twin: oracles/names.py canonical

MATCH (alias:Name {tenant: $tenant, key: named})
WHERE alias.scope IN [$scope, named_in, 'global'] AND (alias.scope = $scope OR alias.scope IN $scopes)
CALL (alias) {
  MATCH (alias)<-[:CONCERNS]-(naming:Event {tenant: $tenant})
  WHERE naming.type = 'SAME_AS' AND ($known IS NULL OR naming.recorded_at <= $known)
  RETURN naming.same_as AS same_as
  ORDER BY naming.occurred_at DESC, naming.id DESC
  LIMIT 1
}
FILTER same_as IS NOT NULL
RETURN same_as
ORDER BY alias.scope = $scope DESC, alias.scope = named_in DESC
LIMIT 1
