// Collect the nodes from which relationships lead to `n`, of each type and kind at most $counted: each is bounded on its own,
// so that thousands of one type do not hide another.
// needs: n
// leaves: incoming (a list of maps: type, outgoing, x)

CALL (n) {
  CALL (n) {
    FILTER 'SUPPORTS' IN $types
    MATCH (n)<-[:SUPPORTS]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN 'SUPPORTS' AS type, x
    LIMIT $counted
  UNION ALL
    FILTER 'REFUTES' IN $types
    MATCH (n)<-[:REFUTES]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN 'REFUTES' AS type, x
    LIMIT $counted
  UNION ALL
    FILTER 'REINFORCES' IN $types
    MATCH (n)<-[:REINFORCES]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN 'REINFORCES' AS type, x
    LIMIT $counted
  UNION ALL
    FILTER 'CONCERNS' IN $types
    MATCH (n)<-[:CONCERNS]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN 'CONCERNS' AS type, x
    LIMIT $counted
  UNION ALL
    FILTER 'OCCURRED_IN' IN $types
    MATCH (n)<-[:OCCURRED_IN]-(x:Turn {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN 'OCCURRED_IN' AS type, x
    LIMIT $counted
  UNION ALL
    FILTER 'OCCURRED_IN' IN $types
    MATCH (n)<-[:OCCURRED_IN]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN 'OCCURRED_IN' AS type, x
    LIMIT $counted
  UNION ALL
    FILTER 'QUOTES' IN $types
    MATCH (n)<-[:QUOTES]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN 'QUOTES' AS type, x
    LIMIT $counted
  UNION ALL
    FILTER 'RETRACTS' IN $types
    MATCH (n)<-[:RETRACTS]-(x:Event {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN 'RETRACTS' AS type, x
    LIMIT $counted
  UNION ALL
    FILTER 'CLAIMS' IN $types
    MATCH (n)<-[:CLAIMS]-(x:Memory {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN 'CLAIMS' AS type, x
    LIMIT $counted
  UNION ALL
    FILTER 'SUPERSEDES' IN $types
    MATCH (n)<-[:SUPERSEDES]-(x:Memory|Belief {tenant: $tenant}) WHERE x.scope IN $scopes
    RETURN 'SUPERSEDES' AS type, x
    LIMIT $counted
  }
  RETURN collect({type: type, outgoing: false, x: x}) AS incoming
}
